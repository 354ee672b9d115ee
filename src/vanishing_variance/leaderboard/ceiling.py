"""The accuracy of hard attention on argmax, predicted from the weights: how much a class shifts the logits.

An item's logit rises with its priority p, and its class c adds something that should be nothing. Near the largest
priorities the logit is s (p + delta_c), so that hard attention picks the largest p + delta_c. Of N items, priorities
U(0, 1) and classes uniform over C, the largest priority of a class is 1 - E C / N for large N, E exponential, mean 1.

S seeds, C classes, K draws.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64

from vanishing_variance.engine.attend import products
from vanishing_variance.engine.variant import Variant
from vanishing_variance.leaderboard.files import HARD
from vanishing_variance.measure.inference.models import Models

COLUMNS = ("line", "seed", "offset", "length", "predicted", "hard")
LENGTHS = (2**11, 2**14)
# The slope is that over the largest priorities, among which the largest of 2^10 items and more lie.
STEP = 2.0**-10
QUERY = 0.5
DRAWS = 100_000


@torch.no_grad()
def class_offsets(variant: Variant, weights: Mapping[str, Float[np.ndarray, "S ..."]]) -> Float64[np.ndarray, "S C"]:
    """Return delta, what each class adds to the logit over its slope in the priority, at the largest priority.

    In double precision; less the mean over the classes, which moves no item past another.
    """
    double = {name: array.astype(np.float64) for name, array in weights.items()}
    models = Models.of(variant, double)
    classes = np.arange(variant.task.num_classes, dtype=np.uint8)
    # Two items of each class: at the largest priority, and a step below.
    priority = np.repeat([1.0, 1.0 - STEP], len(classes))
    sequence = {
        "priority": priority[None],
        "class": np.tile(classes, 2)[None],
        "query": np.array([QUERY]),
    }
    items, folded_query = models.encode(sequence)
    logits = products(items, folded_query).cpu().numpy()
    highest, lower = np.split(logits.reshape(len(logits), -1), 2, axis=1)
    slope = ((highest - lower) / STEP).mean(axis=1, keepdims=True)
    offsets: np.ndarray = (highest - highest.mean(axis=1, keepdims=True)) / slope
    return offsets


def predicted(
    offsets: Float64[np.ndarray, "S C"], items: int, exponentials: Float64[np.ndarray, "K C"]
) -> Float64[np.ndarray, " S"]:
    """Return the accuracy of hard attention, a fraction: how often the largest p + delta_c has the class of largest p.

    `exponentials`: K draws of E for each class.
    """
    classes = offsets.shape[1]
    largest = 1 - exponentials * classes / items
    target = largest.argmax(axis=1)
    accuracies = []
    for offset in offsets:
        answer = (largest + offset).argmax(axis=1)
        accuracies.append((answer == target).mean())
    return np.array(accuracies)


def ceiling(
    offsets: Mapping[str, Float64[np.ndarray, "S C"]], accuracy: pd.DataFrame, rng: np.random.Generator
) -> pd.DataFrame:
    """Return a row per line, seed and tested length of LENGTHS, or the longest: COLUMNS, accuracies as fractions.

    `offsets`: by line; `accuracy`: line, rule, seed, length (both increasing), accuracy, of argmax. `offset`:
    the standard deviation of delta over the classes; `predicted`: by the same draws for all lines and lengths.
    """
    hard = accuracy[accuracy["rule"] == HARD].rename(columns={"accuracy": "hard"})
    shown = hard[hard["length"].isin([*LENGTHS, hard["length"].max()])]
    classes = next(iter(offsets.values())).shape[1]
    exponentials = rng.exponential(size=(DRAWS, classes))
    parts: list[pd.DataFrame] = []
    for line, offset in offsets.items():
        of_line = shown[shown["line"] == line]
        for length in of_line["length"].unique():
            expected = predicted(offset, length, exponentials)
            part = of_line[of_line["length"] == length]
            parts.append(part.assign(offset=offset.std(axis=1), predicted=expected))
    table = pd.concat(parts, ignore_index=True)
    return table[[*COLUMNS]]
