"""The columns of results, and rows and numbers of any frame."""

import numpy as np
import pandas as pd

MODEL = ["task", "line", "seed"]
COLUMNS = [*MODEL, "rule", "length", "accuracy"]
# Of the rules: as trained, and with the weights after some steps, eight digits.
LAST, STEP = "last", "step_"
# Beside an accuracy: the loss of these weights at the training lengths, in nats (`measure.training_loss`), and where
# there are any, the fraction of answers that are not a number, which count as wrong.
LOSS, NO_ANSWER = "loss", "no_answer"
# Inside the models: of the attention weights, and of O before and after the normaliser.
WEIGHTS = ["target", "largest", "largest16", "entropy"]
# Quantiles of the target's logit minus the largest of the others, at the training lengths: margin_05, ….
MARGIN = "margin_"
OUTPUTS = [
    *("variance_before", "feature_variance_before", "shift_before"),
    *("mean_after", "mean_se_after", "variance_after", "feature_variance_after", "shift_after"),
]


def rows(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return the rows that have these values in the columns of these names."""
    chosen = pd.Series(True, index=frame.index)
    for column, value in values.items():
        chosen &= frame[column] == value
    return frame[chosen]


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its numbers rounded to six significant digits."""
    found = frame.copy()
    for name in frame.select_dtypes(np.floating):
        found[name] = frame[name].map("{:.6g}".format).astype(float)
    return found
