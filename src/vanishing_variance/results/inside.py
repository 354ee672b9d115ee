"""The inside of models, metrics/mechanism.csv, and beside it their accuracy."""

import numpy as np
import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.results.accuracy import MODEL, OUTPUTS, WEIGHTS, rounded, rows

INSIDE = [*MODEL, "length", *WEIGHTS, *OUTPUTS]


def inside(measured: pd.DataFrame) -> pd.DataFrame:
    """Return the frame of metrics/mechanism.csv, INSIDE: a row a model and test length, numbers with six digits.

    Length 0 is the training lengths, of which O alone is kept. `measured`: the columns of `measure.evaluation` and
    those of MODEL. Raises InputError where a number is not finite.
    """
    frame = measured[INSIDE].reset_index(drop=True)
    for name in (*WEIGHTS, *OUTPUTS):
        wrong = frame[~np.isfinite(frame[name])]
        if len(wrong):
            task, range_, norm, seed, length, value = wrong[[*MODEL, "length", name]].iloc[0]
            raise InputError(
                f"runs/evaluated: {name} is {value} ({task}, {range_}, {norm}, seed {seed}, length {length}), as where "
                "O does not vary at all; try larger initial weights, or a larger training.learning_rate"
            )
    frame = rounded(frame)
    frame.loc[frame["length"] == 0, WEIGHTS] = np.nan
    return frame


def beside_accuracy(inside: pd.DataFrame, accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return a row a model and test length: MODEL, length, `accuracy` by the rule `last` (a fraction), its inside.

    What was measured of O at the training lengths stands beside it, as `trained_<name>`. `inside` and `accuracy` are
    the frames of metrics/mechanism.csv and metrics/accuracy.csv.
    """
    tested = inside[inside["length"] > 0]
    trained = rows(inside, length=0).set_index(MODEL)[OUTPUTS].add_prefix("trained_").reset_index()
    last = rows(accuracy, rule="last").drop(columns="rule")
    together = tested.merge(trained, on=MODEL, validate="many_to_one")
    return together.merge(last, on=[*MODEL, "length"], validate="one_to_one")
