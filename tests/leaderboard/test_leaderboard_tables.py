import numpy as np
import pandas as pd
from made_up_board import every_state

from vanishing_variance.leaderboard.learned import learned
from vanishing_variance.leaderboard.tables import board_table, ceiling_table, learned_table


def cells(text, name):
    """Return the cells of the one row that begins with a name."""
    [row] = [line for line in text.splitlines() if line.startswith(f"| {name} ")]
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_every_line_has_a_row_whatever_its_state():
    board, lines = every_state()
    text = board_table(board)
    for line in lines:
        assert len(cells(text, line)) == 7
    assert cells(text, "broken")[:4] == ["–", "diverged", "–", "–"]
    assert cells(text, "constant")[1] == "at chance"
    assert "nan" not in text.lower()


def test_the_smallest_offset_stands_first():
    rows = [("wide", seed, 2e-4, 2048, 0.5, 0.6) for seed in (0, 1)]
    rows += [("narrow", seed, 1e-5, 2048, 0.9, 0.8) for seed in (0, 1)]
    text = ceiling_table(pd.DataFrame(rows, columns=["line", "seed", "offset", "length", "predicted", "hard"]))
    assert cells(text, "narrow") == ["1.0e-05", "90.0", "80.0"]
    assert text.index("narrow") < text.index("wide")


def test_the_parameters_of_the_maps_are_means_over_seeds_by_task():
    weights = {("power", "argmax"): {"map.exponent": np.array([[1.0], [2.0], [3.0]])}}
    weights["ssmax", "dictionary"] = {"map.scale": np.ones((3, 1)), "head.2.bias": np.ones((3, 1))}
    text = learned_table(learned(weights))
    assert cells(text, "power: exponent") == ["3", "2.00 [-0.48, 4.48]", "–"]
    assert cells(text, "ssmax: scale") == ["3", "–", "1.00 [1.00, 1.00]"]
