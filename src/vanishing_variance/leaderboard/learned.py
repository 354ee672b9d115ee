"""Parameters that the attention maps of the lines learned, the exponent of `power` for example."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.leaderboard.scores import rounded_interval

COLUMNS = ("line", "task", "parameter", "n", "mean", "low", "high")
# Weights of this name are the attention map's own.
MAP = "map."


def learned(weights: Mapping[tuple[str, str], Mapping[str, Float[np.ndarray, "S ..."]]]) -> pd.DataFrame:
    """Return a row per line, task and parameter of its attention map: mean and 95% t interval over n seeds, COLUMNS.

    `weights`: by line and task.
    """
    rows = []
    for (line, task), arrays in weights.items():
        for name in sorted(arrays):
            if name.startswith(MAP):
                values = arrays[name].ravel().astype(float)
                rows.append((line, task, name.removeprefix(MAP), len(values), *rounded_interval(values)))
    return pd.DataFrame(rows, columns=COLUMNS)
