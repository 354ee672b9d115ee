"""Comparison of a trained ln model with its equivalent std model (Section 3.2): the same answers, or others.

S seeds, B sequences, C classes, D width.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.attention import attend
from vanishing_variance.engine.task import Sequences
from vanishing_variance.engine.variant import Variant
from vanishing_variance.measure.inference.models import Models, Read


def compare(
    variant: Variant, weights: Mapping[str, Float[np.ndarray, "S ..."]], sequences: Mapping[int, Read]
) -> dict[str, Any]:
    """Trained `ln` models beside the `std` models that `folded` makes of them, on the same sequences.

    `answers`, how many each gave; `differ`, the fraction of them that differ; `logits_differ`, the largest difference
    of any class logit, and `logits_deviation`, the standard deviation of the logits to hold it against.
    """
    with_ln = Models.of(variant, weights)
    with_std = Models.of(replace(variant, norm_name="std"), folded(weights))
    answers, differ, largest, squares = 0, 0, 0.0, 0.0
    for length, read in sequences.items():
        for part in read(max(1, with_ln.batch_items // length)):
            ours, theirs = (_logits(models, part) for models in (with_ln, with_std))
            answers += ours[..., 0].numel()
            differ += int((ours.argmax(-1) != theirs.argmax(-1)).sum())
            largest = max(largest, float((ours - theirs).abs().max()))
            squares += float(ours.double().var(dim=-1, correction=0).sum())
    return {
        "answers": answers,
        "differ": differ / answers,
        "logits_differ": largest,
        "logits_deviation": (squares / answers) ** 0.5,
    }


def folded(weights: Mapping[str, Float[np.ndarray, "S ..."]]) -> dict[str, Float[np.ndarray, "S ..."]]:
    """Return the weights of `std` models that are the same functions as `ln` models with these weights.

    gamma scales the columns of W_O, or without a W_O of the head's first layer; beta, through W_O and that layer, is
    added to its bias. In exact arithmetic the class logits are equal: layer normalisation has no more capacity here.
    Computed in double precision and returned in the precision of the weights.
    """
    double = {name: array.astype(np.float64) for name, array in weights.items()}
    gamma, beta = double.pop("norm.scale"), double.pop("norm.shift")
    layers = [name for name in ("attention.output", "head.0.weight") if name in double]
    for name in layers:
        beta = np.einsum("soi,si->so", double[name], beta)
    double["head.0.bias"] = double["head.0.bias"] + beta
    double[layers[0]] = double[layers[0]] * gamma[:, None, :]
    return {name: array.astype(weights[name].dtype) for name, array in double.items()}


@torch.no_grad()
def _logits(models: Models, sequences: Sequences) -> Float[Tensor, "S B C"]:
    _, context = attend(*models.encode(sequences))
    outputs = models.network.outputs(models.weights, context)
    return models.network.read_out(models.weights, models.network.normalise(models.weights, outputs))
