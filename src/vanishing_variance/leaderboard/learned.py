"""What the attention maps of the lines learned: their own parameters, s and gamma of `power` for example.

S seeds.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.harness.markdown import table
from vanishing_variance.statistics.intervals import interval

COLUMNS = ("line", "task", "parameter", "n", "mean", "low", "high")
# Of a weight's name, where it is a parameter of the attention map.
OF_MAP = "map."
NOTE = (
    "The parameters that the attention map of a line learned, as `LEARNABLE` of its file in "
    "src/vanishing_variance/attentions names them: means over n seeds, with half of the 95% t interval."
)


def learned(weights: Mapping[tuple[str, str], Mapping[str, Float[np.ndarray, "S ..."]]]) -> pd.DataFrame:
    """Return a row a line, task and parameter of its attention map: COLUMNS, mean and 95% t interval over seeds.

    `weights` by line and task.
    """
    rows = []
    for (line, task), of in weights.items():
        for name in sorted(name for name in of if name.startswith(OF_MAP)):
            numbers = [round(value, 6) for value in interval(of[name].reshape(len(of[name])).astype(float))]
            rows.append((line, task, name.removeprefix(OF_MAP), len(of[name]), *numbers))
    return pd.DataFrame(rows, columns=COLUMNS)


def markdown(found: pd.DataFrame) -> str:
    """Return a frame of `learned` as Markdown: a row a line and parameter, a column a task."""
    tasks, rows = list(dict.fromkeys(found["task"])), []
    for (line, parameter), of in found.groupby(["line", "parameter"], sort=False):
        by_task = {one["task"]: f"{one['mean']:.2f} ± {one['high'] - one['mean']:.2f}" for one in of.to_dict("records")}
        rows.append([f"{line}: {parameter}", str(of["n"].max()), *(by_task.get(task, "–") for task in tasks)])
    return "\n".join(["# What the attention maps learned", "", NOTE, "", *table(["line", "n", *tasks], rows)]) + "\n"
