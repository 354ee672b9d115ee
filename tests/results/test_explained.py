import numpy as np
import pandas as pd
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.results.explained import INSIDE, inside


def test_a_number_that_is_not_finite_is_one_clear_error():
    model = {"task": "argmax", "range": "short", "norm": "ln", "seed": 3, "length": 64}
    frame = pd.DataFrame([dict.fromkeys(INSIDE, 1.0) | model | {"shift_after": np.inf}])
    said = r"^runs/evaluated: shift_after is inf \(argmax, short, ln, seed 3, length 64\), as where O does not vary"
    with pytest.raises(InputError, match=said):
        inside(frame)
