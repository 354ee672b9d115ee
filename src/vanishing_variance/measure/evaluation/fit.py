"""The adaptive temperature fitted to our own models, by the procedure of Veličković et al. (2024, Section 5).

For every sequence that a model gets wrong, the beta that makes the correct class most probable; through these betas, as
a function of the entropy, a polynomial of degree four. Each half of a block is tested with the polynomial that was
fitted to the mistakes of the other half.

S seeds, B sequences, BH rows of attention, N items, P features of a context, C classes, T candidates of beta, M
mistakes.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from vanishing_variance.engine.items import Items
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.inference.models import Models, StoredWeights, over_heads, select_models
from vanishing_variance.measure.inference.sequences import sample_batches
from vanishing_variance.measure.inference.temperature import SHARPEN_ABOVE, UNCHANGED, Temperature, entropy, halves

DEGREE = 4
# From 1, the plain softmax, to 16, eight to each factor of two.
CANDIDATES = tuple((2.0 ** (np.arange(33) / 8)).tolist())


def fit_block(
    name: str, variant: Variant, weights: StoredWeights, lengths: Sequence[int], sequences: int, root_seed: int
) -> dict[str, Temperature]:
    """Return the temperature for each half of a block; the plain softmax where there is one seed, so no other half.

    `sequences`: of each length and model, none of them a test sequence.
    """
    num_models = len(weights["head.0.weight"])
    jobs: list[parallel.Job] = []
    for place in range(num_models):
        model = select_models(weights, slice(place, place + 1))
        jobs.append(partial(_mistakes_of_model, variant, model, lengths, sequences, root_seed))
    with Progress(f"temperature {name}", num_models * len(lengths), "lengths") as progress:
        by_model = parallel.run(jobs, progress)
    places = halves(num_models)
    first, second = by_model[places["first"]], by_model[places["second"]] or [np.empty((0, 2))]
    return {"first": fitted(np.concatenate(second)), "second": fitted(np.concatenate(first))}


def fitted(mistakes: Float64[np.ndarray, "M 2"]) -> Temperature:
    """Return the least-squares polynomial through `mistakes` (entropy in nats, best beta).

    With at most 2 DEGREE different entropies beta is 1: the plain softmax.
    """
    entropies, betas = mistakes.T
    if len(np.unique(entropies)) <= 2 * DEGREE:
        return replace(UNCHANGED, mistakes=len(mistakes))
    polynomial = np.polynomial.Polynomial.fit(entropies, betas, DEGREE)
    lowest_power_first = polynomial.convert().coef.tolist()
    return Temperature(
        polynomial=tuple(reversed(lowest_power_first)),
        lowest=float(entropies.min()),
        highest=float(entropies.max()),
        mistakes=len(mistakes),
    )


def _mistakes_of_model(
    variant: Variant,
    weights: StoredWeights,
    lengths: Sequence[int],
    sequences: int,
    root_seed: int,
    report: Report,
) -> Float64[np.ndarray, "M 2"]:
    models = Models.of(variant, weights)
    parts = [np.empty((0, 2))]
    for length in lengths:
        rng = stream(root_seed, "temperature", variant.task_name, length)
        for batch in sample_batches(models.task, rng, sequences, length, models.batch_size(length)):
            items, folded_query = models.encode(batch)
            parts.append(mistakes(models, items, folded_query, models.labels(batch)))
        report(1)
    return np.concatenate(parts)


@torch.no_grad()
def mistakes(
    models: Models, items: Items, folded_query: Float[Tensor, "1 BH P"], labels: Int64[Tensor, " B"]
) -> Float64[np.ndarray, "M 2"]:
    """Return entropy and best beta of each sequence that one model gets wrong and that could be sharpened.

    All heads get the same beta, and the entropy is their mean.
    """
    hidden = items.hidden()[0]  # (BH, N, P)
    logits = torch.linalg.vecdot(hidden, folded_query[0].unsqueeze(1))  # (BH, N)
    betas = torch.tensor(CANDIDATES, device=logits.device)
    scaled_logits = betas.view(-1, 1) * logits.unsqueeze(1)  # (BH, T, N)
    contexts = torch.softmax(scaled_logits, dim=-1) @ hidden  # (BH, T, P)
    by_head = contexts.unflatten(0, (len(labels), -1)).transpose(1, 2)  # (B, T, H, P)
    class_logits = models.class_logits(by_head.flatten(0, 2).unsqueeze(0))[0]
    class_logits = class_logits.view(len(labels), len(betas), -1)  # (B, T, C)

    log_probabilities = torch.log_softmax(class_logits, dim=-1)
    of_label = log_probabilities.take_along_dim(labels.view(-1, 1, 1), dim=-1)  # (B, T, 1)
    best_beta = betas[of_label.squeeze(-1).argmax(-1)]

    [entropies] = over_heads(entropy(logits).unsqueeze(0), len(labels))
    plain_answers = class_logits[:, 0].argmax(-1)
    chosen = (plain_answers != labels) & (entropies > SHARPEN_ABOVE)
    pairs = torch.stack((entropies, best_beta), dim=-1)
    return pairs[chosen].double().cpu().numpy()
