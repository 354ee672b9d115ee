"""The probability of a right answer given the target's attention weight.

S seeds, B sequences.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from vanishing_variance.statistics.intervals import NAN, interval

# Bins of the target's weight, evenly spaced in its log odds where it is near 0 or 1.
EDGES = (0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99, 1.0)
# The logits of training sequences times these: the target's weight falls, though the sequences are short.
BETAS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.175, 0.125, 0.06, 0.0)
# A seed counts in a bin where it has so many sequences.
FEWEST = 10


def counted(
    seeds: Sequence[int], weight: Float[np.ndarray, "S B"], correct: Bool[np.ndarray, "S B"]
) -> Iterator[dict[str, Any]]:
    """Yield a row a seed and bin of the target's weight that has sequences: how many, and how many are right."""
    bins = np.clip(np.digitize(weight, EDGES) - 1, 0, len(EDGES) - 2)
    for seed, places, right in zip(seeds, bins, correct, strict=True):
        sequences = np.bincount(places, minlength=len(EDGES) - 1)
        answers = np.bincount(places, right, minlength=len(EDGES) - 1)
        for place in np.flatnonzero(sequences):
            yield {"seed": seed, "bin": place, "sequences": int(sequences[place]), "right": int(answers[place])}


def read_out(counts: pd.DataFrame) -> pd.DataFrame:
    """Return a row a variant, sample, length and bin: the accuracy of sequences by the target's weight.

    `counts`: the rows of `counted` with task, range, norm, `sample` and length. The sample is `tested` or, length 0,
    `flattened`: sequences of the training lengths with their logits times BETAS. Columns: `above` and `to`, the bin's
    ends; `sequences`, over all seeds; `n`, the seeds that have FEWEST of them or more; of these the mean `accuracy`, a
    fraction, and its 95% t interval, `low` and `high`, empty for one seed.
    """
    rows: list[tuple[Any, ...]] = []
    names = ["task", "range", "norm", "sample", "length", "bin"]
    together = counts.groupby([*names, "seed"], sort=False)[["sequences", "right"]].sum().reset_index()
    for key, of in together.groupby(names, sort=False):
        enough = of[of["sequences"] >= FEWEST]
        if enough.empty:
            continue
        mean, *ends = interval((enough["right"] / enough["sequences"]).to_numpy())
        place = int(of["bin"].iloc[0])
        numbers = of["sequences"].sum(), len(enough), mean, *(ends if len(enough) > 1 else (NAN, NAN))
        rows.append((*key[:-1], EDGES[place], EDGES[place + 1], *numbers))
    columns = [*names[:-1], "above", "to", "sequences", "n", "accuracy", "low", "high"]
    return pd.DataFrame(rows, columns=columns).sort_values(columns[:6], kind="stable", ignore_index=True).round(6)
