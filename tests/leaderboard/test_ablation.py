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
    argmax = [accuracies(line, means, spread=0) for line, means in MEANS.items()]
    dictionary = [accuracies(line, means, task="dictionary") for line, means in MEANS.items() if line != "power"]
    found = ablation(pd.concat([*argmax, *dictionary]), LINES, "both", longest=16)
    assert set(found["task"]) == {"argmax"}
    assert set(found["n"]) == {6}
    longest = found[found["measure"] == "2^14"].pivot(index="piece", columns="count", values="gain")
    columns = ["alone", "share", "last"]
    assert longest.loc["attention", columns].tolist() == pytest.approx([0, 25, 50], abs=1e-9)
    assert longest.loc["projection", columns].tolist() == pytest.approx([10, 35, 60], abs=1e-9)
    assert longest.loc["all", "share"] == pytest.approx(60)
    beyond = found[(found["measure"] == "beyond training") & (found["piece"] == "all")]
    assert beyond["gain"].tolist() == pytest.approx([50])
