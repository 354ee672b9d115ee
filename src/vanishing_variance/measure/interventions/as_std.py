"""Comparison of a trained ln model with its equivalent std model (Section 3.2): the same answers, or others.

S seeds, D width.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from vanishing_variance.engine.variant import Variant
from vanishing_variance.measure.inference.models import Models, StoredWeights
from vanishing_variance.measure.inference.sequences import Read


def compare(variant: Variant, weights: StoredWeights, sequences: Mapping[int, Read]) -> dict[str, Any]:
    """Compare trained `ln` models with the `std` models of `folded`, on the same sequences (by length).

    `answers`: the number of answers; `differ`: the fraction that differs; `logits_differ`: the largest difference of
    any class logit; `logits_deviation`: the standard deviation of the logits over classes, to hold it against.
    """
    torch.set_num_threads(1)  # several would spin beside other stages
    ln = Models.of(variant, weights)
    std = Models.of(replace(variant, norm_name="std"), folded(weights))
    answers, differ, largest, variances = 0, 0, 0.0, 0.0
    for length, read in sequences.items():
        for batch in read(ln.batch_size(length)):
            of_ln, of_std = (models.read_out(models.attend(batch).after) for models in (ln, std))
            different = of_ln.argmax(-1) != of_std.argmax(-1)
            deviation = (of_ln - of_std).abs()
            variance = of_ln.double().var(dim=-1, correction=0)
            answers += different.numel()
            differ += int(different.sum())
            largest = max(largest, float(deviation.max()))
            variances += float(variance.sum())
    return {
        "answers": answers,
        "differ": differ / answers,
        "logits_differ": largest,
        "logits_deviation": (variances / answers) ** 0.5,
    }


def folded(weights: StoredWeights) -> dict[str, Float[np.ndarray, "S ..."]]:
    """Return the weights of `std` models that are the same functions as `ln` models with these weights.

    gamma scales the columns of W_O, or without a W_O of the head's first layer; beta, through W_O and that layer, is
    added to its bias. In exact arithmetic the class logits are equal: layer normalisation has no more capacity here.
    Computed in double precision and returned in the precision of the weights.
    """
    double = {name: array.astype(np.float64) for name, array in weights.items()}
    gamma = double.pop("norm.scale")  # (S, D)
    beta = double.pop("norm.shift")
    layers = [name for name in ("attention.output", "head.0.weight") if name in double]
    for name in layers:
        beta = np.einsum("soi,si->so", double[name], beta)
    double["head.0.bias"] += beta
    double[layers[0]] *= gamma[:, np.newaxis]
    return {name: array.astype(weights[name].dtype) for name, array in double.items()}
