"""Testing of a treatment's models: with the attention map as trained, sharpened, and with hard attention.

S seeds, B sequences, N items.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.attention import weighted_sum
from vanishing_variance.engine.device import device
from vanishing_variance.engine.task import Sequences
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.leaderboard.files import ACCURACY, ADAPTIVE, ATTENTION, FITTED, HARD, RULES, TRAINED
from vanishing_variance.measure.evaluation.fit import FitPlan, fit_block
from vanishing_variance.measure.inference.models import Models, Read
from vanishing_variance.measure.inference.temperature import PUBLISHED, Temperature, entropy, halves


def measure_treatment(
    plan: FitPlan, weights: Mapping[str, np.ndarray], seeds: Sequence[int], sequences: Mapping[int, Read]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the accuracies and what attention does, with the columns ACCURACY and ATTENTION, in their order.

    `sequences` are read by length. On a CPU a model at a time, over the cores. An adaptive temperature is fitted by
    `plan` where the map is a softmax whose keys fold into the query: to each half of the models, for the other.
    """
    network = plan.variant.network()
    folds = network.rescaled and network.model.projection in ("mlp", "direct")
    fits = fit_block(plan, weights) if folds else {}
    jobs: list[Job] = []
    for half, places in halves(len(seeds)).items():
        size = 1 if device().type == "cpu" else max(1, len(seeds[places]))
        for first in range(places.start, places.stop, size):
            of_part = {name: of[first : min(first + size, places.stop)] for name, of in weights.items()}
            jobs.append(partial(_part, plan.variant, of_part, sequences, fits[half][0] if fits else None))
    with Progress(f"test {plan.name}", len(jobs) * len(sequences), "lengths") as progress:
        parts = parallel.run(jobs, progress)
    means = {key: np.concatenate([of_part[key] for of_part in parts]) for key in parts[0]}
    accuracy = [
        (seed, rule, length, mean)
        for (rule, length), of in means.items()
        if rule in RULES
        for seed, mean in zip(seeds, of, strict=True)
    ]
    inside = [
        (seed, length, *(means[name, length][place] for name in ATTENTION[2:]))
        for place, seed in enumerate(seeds)
        for length in sequences
    ]
    rows = pd.DataFrame(accuracy, columns=ACCURACY).sort_values(list(ACCURACY[:3]), ignore_index=True)
    return rows, pd.DataFrame(inside, columns=ATTENTION)


def _part(
    variant: Variant,
    weights: Mapping[str, np.ndarray],
    sequences: Mapping[int, Read],
    fitted: Temperature | None,
    report: Report,
) -> dict[tuple[str, int], Float[np.ndarray, " S"]]:
    """Return the mean over sequences of what `answer` returns, by its name and length."""
    models, means = Models.of(variant, weights), {}
    for length, read in sequences.items():
        batches = [answer(models, part, fitted) for part in read(max(1, models.batch_items // length))]
        for name in batches[0]:
            joined = torch.cat([of[name].double() for of in batches], dim=1)
            means[name, length] = joined.mean(1).cpu().numpy()
        report(1)
    return means


@torch.no_grad()
def answer(models: Models, sequences: Sequences, fitted: Temperature | None = None) -> dict[str, Float[Tensor, "S B"]]:
    """Return for each rule whether each answer is correct; and with the map as trained the `target` item's weight, and
    the global `variance` of O.

    The rules `adaptive`, the published temperature, and `fitted`, where it is given, are for maps that are a softmax.
    Hard attention gives all weight to the item with the largest logit, the first of equals: a map that sharpens more
    comes to this. Of several queries, the logits of the first.
    """
    network, weights = models.network, models.weights
    labels, target = (
        torch.from_numpy(array).to(device()) for array in (models.task.label(sequences), sequences["target"])
    )
    items, folded_query = models.encode(sequences)
    logits = network.logits(items, folded_query)
    shares = {TRAINED: network.shares(weights, logits)}
    if network.rescaled:
        spread = entropy(logits)
        for rule, temperature in {ADAPTIVE: PUBLISHED, FITTED: fitted}.items():
            if temperature is not None:
                shares[rule] = network.shares(weights, logits * temperature.beta(spread).unsqueeze(-1))
    largest = logits.view(len(logits), -1, *shares[TRAINED].shape[1:])[:, 0].argmax(-1, keepdim=True)
    shares[HARD] = torch.zeros_like(shares[TRAINED]).scatter_(-1, largest, 1.0)
    found: dict[str, Tensor] = {}
    for rule, of_rule in shares.items():
        outputs = network.outputs(weights, weighted_sum(items, of_rule), None if network.rescaled else of_rule.sum(-1))
        classes = network.read_out(weights, network.normalise(weights, outputs)).argmax(-1)
        found[rule] = (classes == labels).to(logits.dtype)
        if rule == TRAINED:
            found["variance"] = outputs.var(-1, correction=0)
    places = target.view(1, -1, 1).expand(len(logits), -1, 1)
    return found | {"target": shares[TRAINED].gather(-1, places).squeeze(-1)}
