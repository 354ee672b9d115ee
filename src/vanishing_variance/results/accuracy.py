"""Raw accuracies, metrics/accuracy.csv: fractions there, percent here; and the names of what is inside the models."""

import numpy as np
import pandas as pd

COLUMNS = ["task", "range", "norm", "seed", "rule", "length", "accuracy"]
MODEL = ["task", "range", "norm", "seed"]
# Inside the models: of the attention weights, and of O before and after the normaliser.
WEIGHTS = ["target", "largest", "largest16", "entropy"]
OUTPUTS = [
    *("variance_before", "feature_variance_before", "shift_before"),
    *("mean_after", "mean_se_after", "variance_after", "feature_variance_after", "shift_after"),
]


def rows(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return the rows that have these values in the columns of these names; `range_` is `range`."""
    chosen = pd.Series(True, index=frame.index)
    for column, value in values.items():
        chosen &= frame[column.rstrip("_")] == value
    return frame[chosen]


def percent_by_length(results: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies in percent, a row a seed and a column a length, both increasing."""
    return 100 * results.pivot(index="seed", columns="length", values="accuracy").astype(float)


def by_seed(accuracy: pd.DataFrame, task: str, range_: str, norm: str, rule: str) -> pd.DataFrame:
    """Return `percent_by_length` of one variant by one rule."""
    return percent_by_length(rows(accuracy, task=task, range_=range_, norm=norm, rule=rule))


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its numbers rounded to six significant digits."""
    found = frame.copy()
    for name in frame.select_dtypes(np.floating):
        found[name] = frame[name].map("{:.6g}".format).astype(float)
    return found
