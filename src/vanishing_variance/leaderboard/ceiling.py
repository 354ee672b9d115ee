"""The ceiling of sharpening on argmax, predicted from the weights: how much a class shifts the logits.

An item's logit rises with its priority p, and its class c adds something that should be nothing. Near the largest
priorities the logit is s (p + delta_c), so that hard attention picks the largest p + delta_c. Of N items, priorities
U(0, 1) and classes uniform over C, the largest priority of a class is 1 - E C / N for large N, E exponential, mean 1.

S seeds, C classes, K draws.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64

from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.markdown import power
from vanishing_variance.harness.markdown import table as markdown_table
from vanishing_variance.leaderboard.files import HARD
from vanishing_variance.measure.inference.models import Models

COLUMNS = ("line", "seed", "offset", "length", "predicted", "hard")
LENGTHS = (2**11, 2**14)
# The slope is that over the largest priorities, among which the largest of 2^10 items and more lie.
STEP = 2.0**-10
QUERY = 0.5
DRAWS = 100_000
NOTE = (
    "argmax: what a class adds to an item's logit, in units of the priority (standard deviation over the classes, its "
    "median over n seeds), and the accuracy of hard attention (%): as it follows from these offsets, and as measured."
)


@torch.no_grad()
def class_offsets(variant: Variant, weights: Mapping[str, Float[np.ndarray, "S ..."]]) -> Float64[np.ndarray, "S C"]:
    """Return delta, what each class adds to the logit over its slope in the priority, at the largest priority.

    In double precision; an offset that all classes share is left out, for it moves no item past another.
    """
    models = Models.of(variant, {name: array.astype(np.float64) for name, array in weights.items()})
    classes = variant.task.num_classes
    priority = np.repeat([1.0, 1.0 - STEP], classes)[None]
    sequences = {
        "priority": priority,
        "class": np.tile(np.arange(classes, dtype=np.uint8), 2)[None],
        "query": np.array([QUERY]),
    }
    logits = models.network.logits(*models.encode(sequences))
    highest, lower = logits.reshape(len(logits), -1, 2, classes)[:, 0].cpu().numpy().swapaxes(0, 1)
    slope = ((highest - lower) / STEP).mean(axis=1, keepdims=True)
    found: np.ndarray = (highest - highest.mean(axis=1, keepdims=True)) / slope
    return found


def predicted(
    offsets: Float64[np.ndarray, "S C"], items: int, exponentials: Float64[np.ndarray, "K C"]
) -> Float64[np.ndarray, " S"]:
    """Return the accuracy of hard attention, a fraction: how often the largest p + delta_c has the class of largest p.

    By K draws of E of each class.
    """
    largest = 1 - exponentials * offsets.shape[1] / items
    target = largest.argmax(axis=1)
    return np.array([((largest + of).argmax(axis=1) == target).mean() for of in offsets])


def ceiling(
    offsets: Mapping[str, Float64[np.ndarray, "S C"]], accuracy: pd.DataFrame, rng: np.random.Generator
) -> pd.DataFrame:
    """Return a row a line, seed and tested length of `LENGTHS`, or the longest: COLUMNS, accuracies as fractions.

    `offset`: the standard deviation of delta over the classes; `accuracy` of argmax, by line, rule, seed and length;
    `predicted`: by the same draws for all lines and lengths, so that a line's numbers do not depend on the other lines.
    """
    classes = max((of_line.shape[1] for of_line in offsets.values()), default=0)
    exponentials = rng.exponential(size=(DRAWS, classes))
    hard = accuracy[accuracy["rule"] == HARD].sort_values("seed")
    rows: list[tuple[Any, ...]] = []
    for line, of_line in offsets.items():
        for length in sorted({*LENGTHS, hard["length"].max()} & set(hard["length"])):
            of = hard[(hard["line"] == line) & (hard["length"] == length)]
            expected = predicted(of_line, length, exponentials)
            numbers = zip(of["seed"], of_line.std(axis=1), expected, of["accuracy"], strict=True)
            rows += [(line, seed, offset, length, here, there) for seed, offset, here, there in numbers]
    return pd.DataFrame(rows, columns=COLUMNS)


def table(found: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the heads of the columns and a row a line of a frame of `ceiling`, the smallest offset first."""
    lengths = sorted(found["length"].unique())
    heads = ["line", "n", "offset", *(f"{power(n)}: {name}" for n in lengths for name in ("predicted", "measured"))]
    rows = []
    for line, offset in found.groupby("line")["offset"].median().sort_values(kind="stable").items():
        of = found[found["line"] == line]
        means = of.groupby("length")[["predicted", "hard"]].mean().loc[lengths].to_numpy().ravel() * 100
        rows.append([str(line), str(of["seed"].nunique()), f"{offset:.1e}", *(f"{mean:.1f}" for mean in means)])
    return heads, rows


def markdown(found: pd.DataFrame) -> str:
    """Return the table as Markdown."""
    heads, rows = table(found)
    lines = ["# The ceiling of hard attention on argmax", "", NOTE, ""]
    return "\n".join([*lines, *markdown_table(heads, rows)]) + "\n"
