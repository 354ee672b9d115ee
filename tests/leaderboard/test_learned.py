import numpy as np
import pytest

from vanishing_variance.leaderboard.learned import learned, markdown

EXPONENTS = np.array([[1.0], [2.0], [3.0]], dtype=np.float32)
WEIGHTS = {
    ("softmax", "argmax"): {"attention.query": np.ones((3, 4, 4))},
    ("power", "argmax"): {"map.scale": np.full((3, 1), 2.0), "map.exponent": EXPONENTS, "attention.query": EXPONENTS},
    ("power", "dictionary"): {"map.exponent": EXPONENTS / 10},
}


def test_a_row_a_line_task_and_parameter_of_its_map():
    found = learned(WEIGHTS)
    first = found.iloc[0]
    assert (first["line"], first["task"], first["parameter"], first["n"]) == ("power", "argmax", "exponent", 3)
    # Student's t of 2 degrees of freedom at 97.5%, times 1 / sqrt(3)
    assert first["high"] - first["mean"] == pytest.approx(4.302653 / 3**0.5, abs=1e-5)
    assert [line for line in markdown(found).splitlines() if line.startswith("| power")] == [
        "| power: exponent | 3 | 2.00 ± 2.48 | 0.20 ± 0.25 |",
        "| power: scale | 3 | 2.00 ± 0.00 | – |",
    ]
