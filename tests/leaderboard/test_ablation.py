import pandas as pd
import pytest
from made_up_board import accuracies

from vanishing_variance.core.errors import InputError
from vanishing_variance.leaderboard.ablation import ablation, cells, markdown
from vanishing_variance.leaderboard.treatments import Treatment, read_ablation


def treatment(attention="softmax", projection="mlp", norm="none"):
    return Treatment(attention=attention, norm=norm, projection=projection, decay="none")


LINES = {
    "softmax": treatment(),
    "direct": treatment(projection="direct"),
    "power": treatment("power"),
    "other": treatment("ssmax"),
    "both": treatment("power", "direct"),
}
# By set of pieces, at the lengths 16, 64, 256, 16384.
MEANS = {"softmax": (1, 0.6, 0.4, 0.2), "direct": (1, 0.7, 0.5, 0.3), "power": (1, 0.6, 0.4, 0.2)}
MEANS |= {"both": (1, 1, 0.9, 0.8), "other": (1, 0, 0, 0)}


def frame(task="argmax", lines=MEANS, **how):
    return pd.concat([accuracies(line, MEANS[line], task=task, **how) for line in lines])


def test_every_set_of_pieces_is_a_line():
    assert cells(LINES, "both") == {
        frozenset(): "softmax",
        frozenset({"attention"}): "power",
        frozenset({"projection"}): "direct",
        frozenset({"attention", "projection"}): "both",
    }
    assert cells(LINES, "softmax") == {frozenset(): "softmax"}


def test_a_combination_that_is_no_line_is_named():
    lines = {name: of for name, of in LINES.items() if name != "direct"}
    with pytest.raises(
        InputError, match=r"ablation is both, which needs the line {attention: softmax, norm: none, proj"
    ):
        cells(lines, "both")


def test_gains_alone_over_all_orders_and_last():
    found = ablation(frame(spread=0), LINES, "both", longest=16)
    gains = found.set_index(["measure", "piece", "count"])["gain"]
    assert gains["2^14"].to_dict() == pytest.approx(
        {
            ("attention", "alone"): 0.0,
            ("attention", "share"): 25.0,
            ("attention", "last"): 50.0,
            ("projection", "alone"): 10.0,
            ("projection", "share"): 35.0,
            ("projection", "last"): 60.0,
            ("all", "share"): 60.0,
        }
    )
    assert gains["beyond training", "all", "share"] == pytest.approx(100 * ((1 + 0.9 + 0.8) - (0.6 + 0.4 + 0.2)) / 3)
    assert set(found["n"]) == {6}


def test_seeds_are_those_that_all_combinations_have():
    rows = frame(spread=0.02)
    rows = rows[(rows["line"] != "power") | (rows["seed"] > 1)]
    found = ablation(rows, LINES, "both", longest=16)
    assert set(found["n"]) == {4}
    means = rows[(rows["seed"] > 1) & (rows["length"] == 16384)].groupby("line")["accuracy"].mean() * 100
    of = found.set_index(["measure", "piece", "count"]).loc[("2^14", "attention", "last")]
    assert of["gain"] == pytest.approx(means["both"] - means["direct"], abs=1e-5)
    assert of["gain_low"] < of["gain"] < of["gain_high"]


def test_a_task_of_which_a_combination_diverged_is_left_out():
    rows = pd.concat([frame(), frame("dictionary", [line for line in MEANS if line != "power"])])
    assert set(ablation(rows, LINES, "both", longest=16)["task"]) == {"argmax"}


def test_the_table_has_a_row_a_piece_and_one_of_all():
    text = markdown(ablation(frame(spread=0), LINES, "both", longest=16))
    assert "## argmax, n = 6" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[2].startswith("| attention: softmax → power | +0.0 ± 0.0 |")
    assert rows[3].endswith("| +10.0 ± 0.0 | +35.0 ± 0.0 | +60.0 ± 0.0 |")
    assert rows[4] == "| all |  | +50.0 ± 0.0 |  |  | +60.0 ± 0.0 |  |"


def test_the_ablation_of_the_file_is_a_line_or_none(tmp_path):
    path = tmp_path / "params.yaml"
    line = "  softmax: {attention: softmax, norm: none, projection: mlp, decay: none}\n"
    path.write_text("treatments:\n" + line)
    assert read_ablation(path) is None
    path.write_text("ablation: softmax\ntreatments:\n" + line)
    assert read_ablation(path) == "softmax"
    for wrong, said in (("best", "'best'"), ("[softmax]", r"\['softmax'\]"), ("3", "3")):
        path.write_text(f"ablation: {wrong}\ntreatments:\n{line}")
        with pytest.raises(InputError, match=f"ablation is {said}; must be one of softmax"):
            read_ablation(path)
