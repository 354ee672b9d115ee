"""Inside every model, beside its accuracy: where attention goes, and how O shifts away from the training lengths.

S seeds, B sequences, R of the training lengths, N items, D width.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from scipy.stats import sem, wasserstein_distance
from torch import Tensor

from vanishing_variance.engine.task import TARGET, Sequences
from vanishing_variance.measure.evaluation.diagnostics import LARGEST_WEIGHTS
from vanishing_variance.measure.inference.models import Attended, at_target, over_heads, targets

WEIGHTS = ("target", "largest", "largest16", "entropy")
# Quantiles over sequences of the margin, by name.
MARGINS = {"margin_05": 0.05, "margin_50": 0.5, "margin_95": 0.95}
NONE = dict.fromkeys(MARGINS, np.nan)


@torch.no_grad()
def inside(sequences: Sequences, attended: Attended) -> dict[str, Float[Tensor, "S B ..."]]:
    """Return the attention, means over its heads, and the outputs of each sequence, as trained.

    (S, B): the attention weight of the `target` item, the `largest` weight, `largest16`, the sum of the 16 largest
    (Figure 4 shows these), their `entropy` in nats. (S, B, D): O `before` and `after` the normaliser.
    """
    weights = attended.weights
    shown = min(LARGEST_WEIGHTS, weights.shape[-1])
    by_head = {
        "target": at_target(weights, sequences),
        "largest": weights.amax(-1),
        "largest16": weights.topk(shown).values.sum(-1),
    }
    number = attended.before.shape[1]
    means = {name: over_heads(values, number) for name, values in by_head.items()}
    return means | {"entropy": attended.entropy, "before": attended.before, "after": attended.after}


@torch.no_grad()
def margin(sequences: Sequences, attended: Attended) -> Float[Tensor, "S B"]:
    """Return the target's logit minus the largest of the others, the mean over heads; NaN where there is no target."""
    of_target = at_target(attended.logits, sequences)
    if TARGET in sequences:
        place = targets(sequences, attended.logits.shape[1]).view(1, -1, 1).expand(len(attended.logits), -1, 1)
        others = attended.logits.scatter(-1, place, -torch.inf)
        of_target = of_target - others.amax(-1)
    return over_heads(of_target, attended.before.shape[1])


def means_by_model(
    sample: str,
    length: int,
    seeds: Sequence[int],
    measured: Mapping[str, Shaped[np.ndarray, "S B ..."]],
    reference: Mapping[str, Float[np.ndarray, "S R ..."]],
) -> list[dict[str, Any]]:
    """Return a row a model of means over sequences of what `inside` measured; `reference`: at the training lengths.

    `sample`, `length`, `seed`; those of WEIGHTS; and before and after the normaliser, as `…_before` and `…_after`: the
    global `mean` of O and its global `variance` (Section 2: over the D features of one output), means over sequences,
    with `mean_se`, the standard error of the first; `feature_variance`, the mean over the features of the variance over
    sequences (Figure 2, Proposition 1); `shift`, see there. MARGINS, where a `margin` was measured.
    """
    rows = []
    for place, seed in enumerate(seeds):
        row: dict[str, Any] = {"sample": sample, "length": length, "seed": seed}
        for name in WEIGHTS:
            row[name] = measured[name][place].mean(dtype=np.float64)
        if "margin" in measured:
            margins = measured["margin"][place]
            margins = margins[~np.isposinf(margins)]  # of one item there is no other
            row |= dict(zip(MARGINS, np.quantile(margins, [*MARGINS.values()]), strict=True)) if len(margins) else NONE
        for where in ("before", "after"):
            outputs = measured[where][place].astype(np.float64)  # (B, D)
            of_training = reference[where][place].astype(np.float64)
            means = outputs.mean(axis=1)
            row[f"mean_{where}"] = means.mean()
            row[f"mean_se_{where}"] = sem(means)
            row[f"variance_{where}"] = outputs.var(axis=1).mean()
            row[f"feature_variance_{where}"] = outputs.var(axis=0, ddof=1).mean()
            row[f"shift_{where}"] = shift(outputs, of_training)
        rows.append(row)
    return rows


def shift(outputs: Float[np.ndarray, "B D"], reference: Float[np.ndarray, "R D"]) -> float:
    """Return the distance between the distributions of two samples of O, in standard deviations of the reference.

    The mean over features of the 1-Wasserstein distance, over their mean standard deviation: a feature that hardly
    varies cannot make it large; NaN where none varies. It is not zero for two samples of one distribution: a second
    sample of the training lengths is measured beside it.
    """
    deviation = reference.std(axis=0).mean()
    if deviation == 0:
        return np.nan
    distances = list(map(wasserstein_distance, outputs.T, reference.T))
    return float(np.mean(distances) / deviation)
