import pandas as pd
import pytest
from made_up_board import accuracies

from vanishing_variance.harness.errors import InputError
from vanishing_variance.leaderboard.ablation import ablation, cells, markdown
from vanishing_variance.leaderboard.treatments import Treatment


def treatment(attention="softmax", projection="mlp"):
    return Treatment(attention=attention, norm="none", projection=projection, decay="none")


LINES = {
    "softmax": treatment(),
    "direct": treatment(projection="direct"),
    "power": treatment("power"),
    "other": treatment("ssmax"),
    "both": treatment("power", "direct"),
}
# At the lengths 16, 64, 256, 16384.
MEANS = {"softmax": (1, 0.6, 0.4, 0.2), "direct": (1, 0.7, 0.5, 0.3), "power": (1, 0.6, 0.4, 0.2)}
MEANS |= {"both": (1, 1, 0.9, 0.8), "other": (1, 0, 0, 0)}


def frame(**how):
    return pd.concat([accuracies(line, means, **how) for line, means in MEANS.items()])


def test_every_set_of_pieces_must_be_a_line():
    assert cells(LINES, "both") == {
        frozenset(): "softmax",
        frozenset({"attention"}): "power",
        frozenset({"projection"}): "direct",
        frozenset({"attention", "projection"}): "both",
    }
    lines = {name: of for name, of in LINES.items() if name != "direct"}
    with pytest.raises(InputError, match=r"ablation is both, which needs the line {attention: softmax, norm: none"):
        cells(lines, "both")


def test_gains_alone_over_all_orders_and_last_where_every_combination_was_tested():
    rows = frame(spread=0).query("line != 'power' or seed > 1")
    without = frame(task="dictionary").query("line != 'power'")
    found = ablation(pd.concat([rows, without]), LINES, "both", longest=16)
    assert set(found["task"]) == {"argmax"}
    assert set(found["n"]) == {4}
    gains = found.set_index(["measure", "piece", "count"])["gain"]
    expected = {"attention": (0, 25, 50), "projection": (10, 35, 60)}
    of = {(piece, count): gains["2^14", piece, count] for piece in expected for count in ("alone", "share", "last")}
    assert list(of.values()) == pytest.approx([*expected["attention"], *expected["projection"]], abs=1e-9)
    assert gains["2^14", "all", "share"] == pytest.approx(60)
    assert gains["beyond training", "all", "share"] == pytest.approx(100 * ((1 + 0.9 + 0.8) - (0.6 + 0.4 + 0.2)) / 3)
    [row] = [line for line in markdown(found).splitlines() if line.startswith("| projection: mlp → direct |")]
    assert row.endswith("| +10.0 ± 0.0 | +35.0 ± 0.0 | +60.0 ± 0.0 |")
