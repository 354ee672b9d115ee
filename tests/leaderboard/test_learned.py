import numpy as np
import pytest

from vanishing_variance.leaderboard.learned import COLUMNS, learned, markdown

EXPONENTS = np.array([[1.0], [2.0], [3.0]], dtype=np.float32)
WEIGHTS = {
    ("softmax", "argmax"): {"attention.query": np.ones((3, 4, 4))},
    ("power", "argmax"): {"map.scale": np.full((3, 1), 2.0), "map.exponent": EXPONENTS, "attention.query": EXPONENTS},
    ("power", "dictionary"): {"map.scale": np.full((3, 1), 4.0), "map.exponent": EXPONENTS / 10},
}


def test_a_row_a_line_task_and_parameter_of_its_map():
    found = learned(WEIGHTS)
    assert list(found.columns) == [*COLUMNS]
    assert [*found[["line", "task", "parameter"]].itertuples(index=False, name=None)] == [
        *(("power", "argmax", name) for name in ("exponent", "scale")),
        *(("power", "dictionary", name) for name in ("exponent", "scale")),
    ]
    first = found.iloc[0]
    # Student's t of 2 degrees of freedom at 97.5%, times 1 / sqrt(3)
    assert (first["n"], first["mean"]) == (3, 2.0)
    assert first["high"] - first["mean"] == pytest.approx(4.302653 / 3**0.5, abs=1e-5)
    assert found.iloc[1][["mean", "low", "high"]].tolist() == [2.0, 2.0, 2.0]


def test_its_table_has_a_dash_where_a_task_is_missing():
    rows = [line for line in markdown(learned(WEIGHTS)).splitlines() if line.startswith("| power")]
    assert rows == [
        "| power: exponent | 3 | 2.00 ± 2.48 | 0.20 ± 0.25 |",
        "| power: scale | 3 | 2.00 ± 0.00 | 4.00 ± 0.00 |",
    ]
    diverged = {place: of for place, of in WEIGHTS.items() if place != ("power", "dictionary")}
    other = {("other", "dictionary"): WEIGHTS["power", "dictionary"]}
    assert "| power: scale | 3 | 2.00 ± 0.00 | – |" in markdown(learned(diverged | other))


def test_lines_whose_maps_learn_nothing_have_an_empty_table():
    assert markdown(learned({("softmax", "argmax"): {}})).endswith("| line | n |\n| --- | --: |\n")
