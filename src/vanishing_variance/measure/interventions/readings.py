"""The probability of a correct answer given the target's attention weight."""

import numpy as np
import pandas as pd

from vanishing_variance.statistics.intervals import interval

# Bins of the target's weight, evenly spaced in its log odds where it is near 0 or 1.
EDGES = (0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99, 1.0)
# The logits of training sequences times these: the target's weight falls, though the sequences are short.
BETAS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.175, 0.125, 0.06, 0.0)
# A seed counts in a bin where it has so many sequences.
FEWEST = 10
KEYS = ["task", "range", "norm", "sample", "length", "above", "to"]
COLUMNS = [*KEYS, "sequences", "n", "accuracy", "low", "high"]


def read_out(counts: pd.DataFrame) -> pd.DataFrame:
    """Return a row a variant, sample, length and bin: the accuracy of sequences by the target's weight.

    `counts`: those of `measurement.intervene`, a row a variant, `sample`, length, seed and bin. The sample is `tested`
    or, length 0, `flattened`: sequences of the training lengths with their logits times BETAS. Columns: `above` and
    `to`, the bin's ends; `sequences`, over all seeds; `n`, the seeds that have FEWEST of them or more; of these the
    mean `accuracy`, a fraction, and its 95% t interval, `low` and `high`, empty for one seed.
    """
    rows = []
    edges, bins = np.array(EDGES), counts["bin"]
    counts = counts.assign(above=edges[bins], to=edges[bins + 1])
    by_seed = counts.groupby([*KEYS, "seed"])[["sequences", "right"]].sum()
    for key, seeds in by_seed.groupby(KEYS):
        counted_seeds = seeds[seeds["sequences"] >= FEWEST]
        if counted_seeds.empty:
            continue
        accuracies = counted_seeds["right"] / counted_seeds["sequences"]
        mean, low, high = interval(accuracies.to_numpy())
        rows.append((*key, seeds["sequences"].sum(), len(accuracies), mean, low, high))
    return pd.DataFrame(rows, columns=COLUMNS).round(6)
