import pandas as pd
import pytest
from made_up_board import accuracies, treatment

from vanishing_variance.harness.errors import InputError
from vanishing_variance.leaderboard.ablation import ablation, combined_lines

LINES = {
    "softmax": treatment(),
    "direct": treatment(projection="direct"),
    "power": treatment("power"),
    "other": treatment("ssmax"),
    "both": treatment("power", projection="direct"),
}
# At the lengths 16, 64, 256, 16384.
MEANS = {
    "softmax": (1, 0.6, 0.4, 0.2),
    "direct": (1, 0.7, 0.5, 0.3),
    "power": (1, 0.6, 0.4, 0.2),
    "both": (1, 1, 0.9, 0.8),
    "other": (1, 0, 0, 0),
}


def test_every_set_of_pieces_must_be_a_line():
    lines = combined_lines(LINES, "both")
    assert list(lines.values()) == ["softmax", "power", "direct", "both"]
    without = {name: line for name, line in LINES.items() if name != "direct"}
    with pytest.raises(InputError, match="ablation is both, which needs the line"):
        combined_lines(without, "both")


def test_gains_alone_over_all_orders_and_last_where_every_combination_was_tested():
    frames = [accuracies(line, means, spread=0) for line, means in MEANS.items()]
    frames.append(accuracies("softmax", MEANS["softmax"], task="dictionary"))  # and no other line
    found = ablation(pd.concat(frames), LINES, "both", longest=16)
    assert set(found["task"]) == {"argmax"}
    gains = found.set_index(["measure", "piece", "count"])["gain"].to_dict()
    expected = {("attention", "alone"): 0, ("attention", "share"): 25, ("attention", "last"): 50}
    expected |= {("projection", "alone"): 10, ("projection", "share"): 35, ("projection", "last"): 60}
    for (piece, count), gain in expected.items():
        assert gains["2^14", piece, count] == pytest.approx(gain, abs=1e-9)
    assert gains["2^14", "all", "share"] == pytest.approx(60)
    assert gains["beyond training", "all", "share"] == pytest.approx(50)
