import json
from pathlib import Path

import pandas as pd
import pytest
from checkout import ROOT
from made_up_board import accuracies, attention

from stages.leaderboard import main
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import read_csv, write_frame
from vanishing_variance.harness.paths import RUNS
from vanishing_variance.harness.runs import TASKS
from vanishing_variance.leaderboard.files import DIVERGED

MEANS = {"softmax": (0.99, 0.9, 0.8, 0.3), "ssmax": (0.99, 0.98, 0.95, 0.9), "broken": (0.99, 0.9, 0.7, 0.6)}
METRICS = Path("metrics/leaderboard")
LINE = "  {}: {{attention: {}, norm: none, projection: mlp, decay: none}}\n"


def folder(line, task):
    return RUNS / "leaderboard/evaluated" / line / task


def write_line(line, task, means):
    frame = pd.concat([accuracies(line, means, task=task), accuracies(line, (0.99,) * 4, "hard", task)])
    mechanism = attention(frame).rename(columns={"variance": "variance_before"}).assign(sample="tested")
    of_training = mechanism.assign(sample="trained", length=0, target=0.0)
    write_frame(folder(line, task) / "accuracy.parquet", frame.drop(columns=["task", "line"]))
    both = pd.concat([mechanism, of_training]).drop(columns=["task", "line"])
    write_frame(folder(line, task) / "mechanism.parquet", both)


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
    said = {"said": "seed 1: the loss is nan at step 7"}
    write_json(folder("broken", "argmax") / DIVERGED, said)


def outputs():
    paths = [*METRICS.rglob("*.*"), *Path("plots").rglob("*.*")]
    return {str(path): path.read_bytes() for path in paths}


def test_from_results_a_line_to_the_board_the_tables_and_the_figure():
    main()
    board = read_csv(METRICS / "board.csv").set_index(["task", "line", "rule"])
    assert len(board) == 5 + 6
    broken = board.loc["argmax", "broken", "plain"]
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
