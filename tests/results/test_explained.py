import itertools

import numpy as np
import pandas as pd
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.results.accuracy import OUTPUTS, WEIGHTS
from vanishing_variance.results.explained import inside


def measured(seeds=6, lengths=(16, 64, 256)):
    """What was measured inside models, whose attention on the target will be their accuracy; the rest is noise."""
    rng = np.random.default_rng(0)
    models = itertools.product(["argmax"], ["short"], ("none", "ln"), range(seeds), (0, *lengths))
    frame = pd.DataFrame(models, columns=["task", "range", "norm", "seed", "length"])
    frame[[*WEIGHTS, *OUTPUTS]] = rng.uniform(1, 2, (len(frame), len(WEIGHTS) + len(OUTPUTS)))
    frame["target"] = rng.uniform(0.5, 0.6, len(frame)) + 0.05 * (frame["norm"] == "ln") - frame["length"] / 1000
    return frame


def test_a_number_that_is_not_finite_is_one_clear_error():
    frame = measured()
    frame.loc[frame.query("norm == 'ln' and seed == 3 and length == 64").index, "shift_after"] = np.inf
    said = r"^runs/evaluated: shift_after is inf \(argmax, short, ln, seed 3, length 64\), as where O does not vary"
    with pytest.raises(InputError, match=said):
        inside(frame)
