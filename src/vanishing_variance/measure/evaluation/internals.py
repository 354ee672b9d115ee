"""Inside every model, beside its accuracy: where attention goes, and how O shifts away from the training lengths.

S seeds, B sequences, R of the training lengths, N items, D width.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Shaped
from scipy.stats import sem, wasserstein_distance
from torch import Tensor

from vanishing_variance.engine.device import device
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.task import Sequences
from vanishing_variance.measure.evaluation.diagnostics import LARGEST_WEIGHTS
from vanishing_variance.measure.inference.models import Answers, Models, joined
from vanishing_variance.measure.inference.sequences import of_training_lengths
from vanishing_variance.measure.inference.temperature import UNCHANGED

PLACES = ("before", "after")
WEIGHTS = ("target", "largest", "largest16", "entropy")


@torch.no_grad()
def inside(sequences: Sequences, answers: Answers) -> dict[str, Float[Tensor, "S B ..."]]:
    """Return the attention and the outputs of each sequence, with the plain softmax.

    (S, B): the attention weight of the `target` item, the `largest` weight, `largest16`, the sum of the 16 largest
    (Figure 4 shows these), their `entropy` in nats. (S, B, D): O `before` and `after` the normaliser.
    """
    log_weights = torch.log_softmax(answers.logits, dim=-1)
    target = torch.from_numpy(sequences["target"]).to(device()).view(1, -1, 1).expand(len(log_weights), -1, 1)
    return {
        "target": log_weights.gather(-1, target).squeeze(-1).exp(),
        "largest": log_weights.amax(-1).exp(),
        "largest16": log_weights.topk(min(LARGEST_WEIGHTS, log_weights.shape[-1])).values.exp().sum(-1),
        "entropy": answers.entropy,
        "before": answers.before,
        "after": answers.after,
    }


def at_training_lengths(
    models: Models, lengths: Range, rng: np.random.Generator, sequences: int
) -> dict[str, Float[np.ndarray, "S {sequences} ..."]]:
    """Return `inside` of new sequences of the training lengths, uniform over the whole range."""
    parts = of_training_lengths(models.task, rng, sequences, lengths, models.batch_items)
    return joined(inside(part, models.answer(part, UNCHANGED)) for part in parts)


def means_by_model(
    seeds: Sequence[int],
    found: Mapping[str, Shaped[np.ndarray, "S B ..."]],
    reference: Mapping[str, Float[np.ndarray, "S R ..."]],
) -> Iterator[dict[str, float]]:
    """Yield a row a model of means over sequences, of what `inside` found; `reference` is that of the training lengths.

    `seed`; those of WEIGHTS; and before and after the normaliser, as `…_before` and `…_after`: the global
    `mean` of O and its global `variance` (Section 2: over the D features of one output), means over sequences, with
    `mean_se`, the standard error of the first; `feature_variance`, the mean over the features of the variance over
    sequences (Figure 2, Proposition 1); `shift`, see there.
    """
    for place, seed in enumerate(seeds):
        row: dict[str, float] = {"seed": seed}
        row |= {name: float(found[name][place].mean(dtype=np.float64)) for name in WEIGHTS}
        for where in PLACES:
            outputs, of_training = (arrays[where][place].astype(np.float64) for arrays in (found, reference))
            means = outputs.mean(axis=1)
            row |= {
                f"mean_{where}": float(means.mean()),
                f"mean_se_{where}": float(sem(means)),
                f"variance_{where}": float(outputs.var(axis=1).mean()),
                f"feature_variance_{where}": float(outputs.var(axis=0, ddof=1).mean()),
                f"shift_{where}": shift(outputs, of_training),
            }
        yield row


def shift(outputs: Float[np.ndarray, "B D"], reference: Float[np.ndarray, "R D"]) -> float:
    """Return how far outputs are distributed from a reference, in standard deviations of the reference.

    The 1-Wasserstein distance of each feature's distributions (the area between their distribution functions: Ramdas,
    García Trillos and Cuturi 2017, Section 4), by scipy, the mean over features over their mean standard deviation:
    a feature that hardly varies cannot make it large. It is not zero for two samples of one distribution: a sample of
    the training lengths itself is measured beside it.
    """
    distances = [wasserstein_distance(*pair) for pair in zip(outputs.T, reference.T, strict=True)]
    return float(np.mean(distances) / np.mean(reference.std(axis=0)))


def frame(of_lengths: Mapping[int, list[dict[str, float]]], of_training: list[dict[str, float]]) -> pd.DataFrame:
    """Return the rows of test lengths, `sample` tested, and those of training lengths, `sample` trained, length 0."""
    tested = [{"sample": "tested", "length": length, **row} for length, of in of_lengths.items() for row in of]
    both = [*({"sample": "trained", "length": 0, **row} for row in of_training), *tested]
    return pd.DataFrame(both).sort_values(["seed", "length"], ignore_index=True)
