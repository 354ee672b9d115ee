"""What several tasks draw."""

import numpy as np
from jaxtyping import Int16


def distinct(rng: np.random.Generator, population: int, rows: int, length: int) -> Int16[np.ndarray, "{rows} {length}"]:
    """Return `rows` uniform ordered samples without replacement of `length` numbers below `population`.

    Short rows: draw with replacement and redraw repeats until none is left. Which entries are redrawn depends only on
    which are equal, so relabelling the numbers relabels the result: every ordered sample is equally likely. Long rows,
    where almost everything would repeat: a partial Fisher-Yates shuffle a row (numpy's `choice`).
    """
    if length > population // 4:
        return np.stack([rng.choice(population, length, replace=False) for _ in range(rows)]).astype(np.int16)
    drawn = rng.integers(population, size=(rows, length), dtype=np.int16)
    pending = np.arange(rows)
    while pending.size:
        ordered = np.sort(drawn[pending], axis=1)  # several times faster than argsort, which few rows need
        pending = pending[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        redrawn = drawn[pending]
        order = redrawn.argsort(axis=1, kind="stable")
        ordered = np.take_along_axis(redrawn, order, axis=1)
        row, rank = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        redrawn[row, order[row, rank + 1]] = rng.integers(population, size=row.size, dtype=np.int16)
        drawn[pending] = redrawn
    return drawn
