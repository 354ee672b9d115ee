import json
from pathlib import Path

import pandas as pd
import pytest
from checkout import ROOT
from made_up_board import accuracies, attention

from stages.leaderboard import main
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import read_csv, write_frame
from vanishing_variance.leaderboard import files
from vanishing_variance.leaderboard.curves import COLUMNS

MEANS = {"softmax": (0.99, 0.9, 0.8, 0.3), "ssmax": (0.99, 0.98, 0.95, 0.9), "broken": (0.99, 0.9, 0.7, 0.6)}


def write_line(line, task, frame):
    write_frame(files.tested(line, task) / "accuracy.parquet", frame[list(files.ACCURACY)])
    write_frame(files.tested(line, task) / "attention.parquet", attention(frame)[list(files.ATTENTION)])


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A folder with the results of three lines, one of which diverged on argmax; the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["stages/leaderboard.py"])
    Path("params.yaml").write_text((ROOT / "params.yaml").read_text())
    settings = [f"  {line}: {{attention: softmax, norm: none, projection: mlp, decay: none}}\n" for line in MEANS]
    Path("leaderboard").mkdir()
    Path("benchmarks").mkdir()
    Path("benchmarks/prices.csv").write_text("line,task,ms\nsoftmax,argmax,2.0\nssmax,argmax,2.1\n")
    Path("leaderboard/params.yaml").write_text("treatments:\n" + "".join(settings))
    for line, means in MEANS.items():
        for task in ("argmax", "dictionary"):
            frames = [accuracies(line, means, task=task), accuracies(line, (0.99,) * 4, "hard", task)]
            write_line(line, task, pd.concat(frames))
    write_line("broken", "argmax", accuracies("broken", (0,) * 4).iloc[:0])
    write_json(files.trained("broken", "argmax") / "diverged.json", {"said": "seed 1: the loss is nan at step 7"})
    return tmp_path


def outputs(folder):
    paths = [path for top in ("metrics", "plots") for path in (folder / top).rglob("*.*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_from_results_a_line_to_the_board_the_table_and_the_figure(inputs):
    main()
    board = read_csv(inputs / "metrics/leaderboard/board.csv", "task", "line", "rule", "rank_low", "note")
    assert len(board) == 5 + 6
    broken = board.query("line == 'broken' and task == 'argmax'").iloc[0]
    assert (broken["state"], broken["note"]) == ("diverged", "seed 1: the loss is nan at step 7")
    assert list(board.loc[board["baseline"], "line"]) == ["softmax", "softmax"]
    ssmax = board.query("task == 'argmax' and line == 'ssmax' and rule == 'trained'")
    assert ssmax["step"].tolist() == [1.05]
    assert board.query("task == 'dictionary'")["step"].isna().all()  # without a price
    summary = json.loads((inputs / "metrics/leaderboard/summary.json").read_text())
    means = accuracies("ssmax", MEANS["ssmax"]).query("length > 16").groupby("seed")["accuracy"].mean()
    assert summary["argmax"]["ssmax"] == round(100 * means.mean(), 2)
    curves = read_csv(inputs / "metrics/leaderboard/accuracy.csv", *COLUMNS)
    assert len(curves) == (2 + 3) * 2 * 4
    for length in (16, 256, 16384):
        [row] = curves.query("task == 'argmax' and line == 'ssmax' and rule == 'trained' and length == @length").values
        expected = [ssmax[f"accuracy_{length}{end}"].item() for end in ("", "_low", "_high")]
        assert list(row) == ["argmax", "ssmax", "trained", length, 6, *expected]
    first = outputs(inputs)
    names = {"ablation.csv", "ablation.md", "accuracy.csv", "board.csv", "board.md", "summary.json"}
    drawn = {f"plots/leaderboard/leaderboard.{kind}" for kind in ("png", "svg")}
    assert first.keys() == {f"metrics/leaderboard/{name}" for name in names} | drawn
    main()
    assert outputs(inputs) == first


def test_the_ablation_chance_and_the_training_lengths_are_those_of_the_parameters(inputs):
    path = Path("leaderboard/params.yaml")
    changed = path.read_text().replace("ssmax: {attention: softmax", "ssmax: {attention: ssmax")
    path.write_text("ablation: ssmax\n" + changed)
    text = Path("params.yaml").read_text()
    for old, new in (("classes: 10\n", "classes: 2\n"), ("longest: 16\n", "longest: 64\n")):
        assert old in text
        text = text.replace(old, new)
    Path("params.yaml").write_text(text)
    write_line("ssmax", "argmax", accuracies("ssmax", (0.5, 0.98, 0.95, 0.9)))
    main()
    board = read_csv(inputs / "metrics/leaderboard/board.csv").set_index(["task", "line", "rule"])
    assert board.loc[("argmax", "ssmax", "trained"), "state"] == "at chance"
    assert board.loc[("dictionary", "softmax", "trained"), "beyond"] == pytest.approx(55, abs=2)
    gains = read_csv(inputs / "metrics/leaderboard/ablation.csv", "task", "measure", "piece", "count", "gain")
    of = gains.query("task == 'argmax' and measure == '2^14' and piece == 'attention' and count == 'alone'")
    assert of["gain"].tolist() == pytest.approx([60], abs=3)
