import json
from pathlib import Path

import pandas as pd
import pytest
from checkout import ROOT
from made_up_board import accuracies, attention

from stages.leaderboard import main
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import read_csv, write_frame
from vanishing_variance.leaderboard.files import ACCURACY, ATTENTION, DIVERGED, TASKS, folder

MEANS = {"softmax": (0.99, 0.9, 0.8, 0.3), "ssmax": (0.99, 0.98, 0.95, 0.9), "broken": (0.99, 0.9, 0.7, 0.6)}
METRICS = Path("metrics/leaderboard")
LINE = "  {}: {{attention: {}, norm: none, projection: mlp, decay: none}}\n"


def write_line(line, task, means):
    tested = folder("tested", line, task)
    frame = pd.concat([accuracies(line, means, task=task), accuracies(line, (0.99,) * 4, "hard", task)])
    write_frame(tested / ACCURACY, frame.drop(columns=["task", "line"]))
    write_frame(tested / ATTENTION, attention(frame).drop(columns=["task", "line"]))


def diverge(line, task):
    write_json(folder("tested", line, task) / DIVERGED, {"said": "seed 1: the loss is nan at step 7"})


def change(path, old, new):
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


@pytest.fixture(autouse=True)
def _inputs(tmp_path, monkeypatch):
    """The results of three lines, one of which diverged on argmax, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["stages/leaderboard.py"])
    Path("leaderboard").mkdir()
    Path("benchmarks").mkdir()
    Path("benchmarks/prices.csv").write_text("line,task,ms\nsoftmax,argmax,2.0\nssmax,argmax,2.1\n")
    Path("params.yaml").write_text((ROOT / "params.yaml").read_text())
    lines = [LINE.format("softmax", "softmax"), LINE.format("ssmax", "ssmax"), LINE.format("broken", "power")]
    Path("leaderboard/params.yaml").write_text("ablation: ssmax\ntreatments:\n" + "".join(lines))
    for line, means in MEANS.items():
        for task in TASKS:
            write_line(line, task, means)
    diverge("broken", "argmax")


def outputs():
    paths = [*METRICS.rglob("*.*"), *Path("plots").rglob("*.*")]
    return {str(path): path.read_bytes() for path in paths}


def test_from_results_a_line_to_the_board_the_tables_and_the_figure():
    main()
    board = read_csv(METRICS / "board.csv").set_index(["task", "line", "rule"])
    assert len(board) == 5 + 6
    broken = board.loc["argmax", "broken", "trained"]
    assert (broken["state"], broken["note"]) == ("diverged", "seed 1: the loss is nan at step 7")
    summary = json.loads((METRICS / "summary.json").read_text())
    assert summary["argmax"]["ssmax"] == pytest.approx(94.33, abs=2)
    gains = read_csv(METRICS / "ablation.csv").query("task == 'argmax' and measure == '2^14' and count == 'alone'")
    assert gains["gain"].tolist() == pytest.approx([60], abs=3)
    first = outputs()
    for name in ("accuracy.csv", "ablation.md", "board.md"):
        assert str(METRICS / name) in first
    main()
    assert outputs() == first


def test_chance_and_the_training_lengths_are_those_of_the_parameters():
    change("params.yaml", "classes: 10\n", "classes: 2\n")
    change("params.yaml", "longest: 16\n", "longest: 64\n")
    write_line("ssmax", "argmax", (0.5, 0.98, 0.95, 0.9))
    main()
    board = read_csv(METRICS / "board.csv").set_index(["task", "line", "rule"])
    assert board.loc[("argmax", "ssmax", "trained"), "state"] == "at chance"
    assert board.loc[("dictionary", "softmax", "trained"), "beyond"] == pytest.approx(55, abs=2)


def test_where_every_line_diverged_there_is_no_board():
    for line in MEANS:
        for task in TASKS:
            diverge(line, task)
    with pytest.raises(InputError, match="every line diverged on every task"):
        main()
