"""The adaptive temperature fitted to our own models, by the procedure of Veličković et al. (2024, Section 5).

For every sequence that a model gets wrong, the beta that makes the right class most probable; through these betas, as a
function of the entropy, a polynomial of degree four. The published polynomial was fitted so to other models. It needs
labelled sequences of the test lengths: so that no model is tested with what its own mistakes gave, each half of a block
is tested with the polynomial that was fitted to the other half.

S seeds, B sequences, N items, D width, T candidates of beta, M mistakes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from vanishing_variance.engine.device import device
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.inference.sequences import sample_batches
from vanishing_variance.measure.inference.temperature import SHARPEN_ABOVE, UNCHANGED, Temperature, entropy, halves

DEGREE = 4
# From 1, the plain softmax, to 16, eight to each factor of two.
CANDIDATES = tuple((2.0 ** (np.arange(33) / 8)).tolist())


@dataclass(frozen=True)
class FitPlan:
    """All that a fit depends on, apart from the weights; `sequences` are a length and model, no test sequences."""

    name: str
    root_seed: int
    variant: Variant
    lengths: Sequence[int]
    sequences: int


def fit_block(plan: FitPlan, weights: Mapping[str, Float[np.ndarray, "S ..."]]) -> dict[str, tuple[Temperature, int]]:
    """Return the temperature for each half of a block, fitted to the other half, and to how many mistakes.

    `weights` by name. Of one seed there is no other half, and its temperature is the plain softmax.
    """
    models = len(next(iter(weights.values())))
    jobs: list[Job] = [
        partial(_mistakes_of_one, plan, {name: array[place : place + 1] for name, array in weights.items()})
        for place in range(models)
    ]
    with Progress(f"temperature {plan.name}", models * len(plan.lengths), "lengths") as progress:
        found = parallel.run(jobs, progress)
    places = halves(models)
    others = {"first": found[places["second"]], "second": found[places["first"]]}
    mistakes_of = {half: np.concatenate([np.empty((0, 2)), *of]) for half, of in others.items()}
    return {half: (fitted(of), len(of)) for half, of in mistakes_of.items()}


def fitted(mistakes: Float64[np.ndarray, "M 2"]) -> Temperature:
    """Return the least-squares polynomial through `mistakes` (entropy in nats, best beta).

    With at most 2 DEGREE different entropies beta is 1: the plain softmax.
    """
    if len(np.unique(mistakes[:, 0])) <= 2 * DEGREE:
        return UNCHANGED
    polynomial = np.polynomial.Polynomial.fit(mistakes[:, 0], mistakes[:, 1], DEGREE).convert()
    low, high = mistakes[:, 0].min(), mistakes[:, 0].max()
    return Temperature(tuple(polynomial.coef[::-1].tolist()), float(low), float(high))


def _mistakes_of_one(
    plan: FitPlan, weights: Mapping[str, Float[np.ndarray, "1 ..."]], report: Report
) -> Float64[np.ndarray, "M 2"]:
    models, found = Models.of(plan.variant, weights), [np.empty((0, 2))]
    for length in plan.lengths:
        rng = stream(plan.root_seed, "temperature", plan.variant.task_name, length)
        for part in sample_batches(models.task, rng, plan.sequences, length, max(1, models.batch_items // length)):
            labels = torch.from_numpy(models.task.label(part)).to(device())
            found.append(mistakes(models, *models.encode(part), labels))
        report(1)
    return np.concatenate(found)


@torch.no_grad()
def mistakes(
    models: Models, items: Items, folded_query: Float[Tensor, "1 B D"], labels: Int64[Tensor, " B"]
) -> Float64[np.ndarray, "M 2"]:
    """Return entropy and best beta of each sequence that one model gets wrong and that could be sharpened."""
    hidden = items.hidden()[0]
    logits = torch.linalg.vecdot(hidden, folded_query[0].unsqueeze(1))
    candidates = torch.tensor(CANDIDATES, device=logits.device)
    weights = torch.softmax(candidates.view(1, -1, 1) * logits.unsqueeze(1), dim=-1)
    contexts = (weights @ hidden).flatten(0, 1).unsqueeze(0)
    outputs = models.network.normalise(models.weights, models.network.outputs(models.weights, contexts))
    classes = models.network.read_out(models.weights, outputs).view(len(labels), len(candidates), -1)
    spread = entropy(logits)
    wrong = (classes[:, 0].argmax(-1) != labels) & (spread > SHARPEN_ABOVE)
    right = torch.log_softmax(classes, dim=-1).gather(2, labels.view(-1, 1, 1).expand(-1, len(candidates), 1))
    best = candidates[right.squeeze(-1).argmax(-1)]
    return torch.stack((spread, best), dim=-1)[wrong].double().cpu().numpy()
