import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from made_up_board import accuracies, attention

from stages.leaderboard import main
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.files import write_json
from vanishing_variance.core.frames import read_csv, write_frame
from vanishing_variance.leaderboard import files
from vanishing_variance.leaderboard.curves import COLUMNS

ROOT = Path(__file__).resolve().parents[2]
LINES = ("softmax", "ssmax", "broken")
MEANS = {"softmax": (0.99, 0.9, 0.8, 0.3), "ssmax": (0.99, 0.98, 0.95, 0.9), "broken": (0.99, 0.9, 0.7, 0.6)}


def write_line(line, task, frame):
    write_frame(files.tested(line, task) / "accuracy.parquet", frame[list(files.ACCURACY)])
    write_frame(files.tested(line, task) / "attention.parquet", attention(frame)[list(files.ATTENTION)])


def test_a_baseline_without_a_price_leaves_the_cost_of_a_step_out(inputs):
    Path("benchmarks/prices.csv").write_text("line,task,ms\nssmax,argmax,2.1\n")
    main()
    assert read_csv(inputs / "metrics/leaderboard/board.csv", "step")["step"].isna().all()


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A folder with the results of three lines, one of which diverged on argmax; the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["stages/leaderboard.py"])
    Path("params.yaml").write_text((ROOT / "params.yaml").read_text())
    settings = [f"  {line}: {{attention: softmax, norm: none, projection: mlp, decay: none}}\n" for line in LINES]
    Path("leaderboard").mkdir()
    Path("benchmarks").mkdir()
    Path("benchmarks/prices.csv").write_text("line,task,ms\nsoftmax,argmax,2.0\nssmax,argmax,2.1\n")
    Path("leaderboard/params.yaml").write_text("treatments:\n" + "".join(settings))
    for line, means in MEANS.items():
        for task in ("argmax", "dictionary"):
            frames = [accuracies(line, means, task=task), accuracies(line, (0.99,) * 4, "hard", task)]
            write_line(line, task, pd.concat(frames))
    nothing = accuracies("broken", (0,) * 4).iloc[:0]
    write_frame(files.tested("broken", "argmax") / "accuracy.parquet", nothing[list(files.ACCURACY)])
    (files.tested("broken", "argmax") / "attention.parquet").unlink()
    write_json(files.trained("broken", "argmax") / "diverged.json", {"said": "seed 1: the loss is nan at step 7"})
    return tmp_path


def outputs(folder):
    names = ("ablation.csv", "ablation.md", "accuracy.csv", "board.csv", "board.md", "summary.json")
    drawn = [folder / f"plots/leaderboard/leaderboard.{kind}" for kind in ("png", "svg")]
    return [*(folder / "metrics/leaderboard" / name for name in names), *drawn]


def test_from_results_a_line_to_the_board_the_table_and_the_figure(inputs):
    main()
    board = read_csv(inputs / "metrics/leaderboard/board.csv", "task", "line", "rule", "rank_low", "note")
    assert len(board) == 5 + 6
    broken = board.query("line == 'broken' and task == 'argmax'").iloc[0]
    assert (broken["state"], broken["note"]) == ("diverged", "seed 1: the loss is nan at step 7")
    assert list(board.loc[board["baseline"], "line"]) == ["softmax", "softmax"]
    means = accuracies("ssmax", MEANS["ssmax"]).query("length > 16").groupby("seed")["accuracy"].mean()
    assert board.query("line == 'ssmax' and task == 'argmax' and rule == 'trained'")["step"].tolist() == [1.05]
    assert board.query("task == 'dictionary'")["step"].isna().all()
    summary = json.loads((inputs / "metrics/leaderboard/summary.json").read_text())
    assert summary["argmax"]["ssmax"] == round(100 * means.mean(), 2)
    assert summary["argmax"]["broken"] is None
    assert set(summary["dictionary"]) == set(LINES)
    accuracy = read_csv(inputs / "metrics/leaderboard/accuracy.csv", *COLUMNS)
    assert len(accuracy) == (2 + 3) * 2 * 4
    last = accuracy.query("task == 'argmax' and line == 'ssmax' and rule == 'trained' and length == 16384")
    ssmax = board.query("task == 'argmax' and line == 'ssmax' and rule == 'trained'")
    assert last["high"].tolist() == ssmax["accuracy_16384_high"].tolist()
    text = (inputs / "metrics/leaderboard/board.md").read_text()
    assert "- broken diverged: seed 1: the loss is nan at step 7" in text
    assert {path for path in inputs.rglob("*.*") if "runs" not in path.parts and path.parent != inputs} == {
        *outputs(inputs),
        inputs / "leaderboard/params.yaml",
        inputs / "benchmarks/prices.csv",
    }


def test_an_ablation_has_a_table(inputs):
    path = Path("leaderboard/params.yaml")
    path.write_text(
        "ablation: ssmax\n" + path.read_text().replace("ssmax: {attention: softmax", "ssmax: {attention: ssmax")
    )
    main()
    gains = read_csv(inputs / "metrics/leaderboard/ablation.csv", "task", "measure", "piece", "count", "gain")
    assert set(gains["piece"]) == {"attention", "all"}
    assert gains.query("measure == '2^14' and count == 'alone'")["gain"].between(50, 70).all()
    assert "| attention: softmax → ssmax |" in (inputs / "metrics/leaderboard/ablation.md").read_text()


def test_chance_and_the_training_lengths_are_those_of_params_yaml(inputs):
    text = Path("params.yaml").read_text()
    assert "classes: 10\n" in text
    Path("params.yaml").write_text(
        text.replace("classes: 10\n", "classes: 2\n").replace("longest: 16\n", "longest: 64\n")
    )
    write_line("ssmax", "argmax", accuracies("ssmax", (0.5, 0.98, 0.95, 0.9)))
    main()
    board = read_csv(inputs / "metrics/leaderboard/board.csv").set_index(["task", "line", "rule"])
    assert board.loc[("argmax", "ssmax", "trained"), "state"] == "at chance"
    assert board.loc[("dictionary", "softmax", "trained"), "beyond"] == pytest.approx(55, abs=2)


def test_the_same_inputs_give_the_same_bytes(inputs):
    main()
    before = [path.read_bytes() for path in outputs(inputs)]
    main()
    assert [path.read_bytes() for path in outputs(inputs)] == before


def test_a_line_without_results_that_did_not_diverge_is_refused(inputs):
    (files.trained("broken", "argmax") / "diverged.json").unlink()
    with pytest.raises(InputError, match=r"tested/broken/argmax/attention.parquet: cannot be read"):
        main()
    nothing = accuracies("broken", (0,) * 4).iloc[:0]
    write_line("broken", "argmax", nothing)
    with pytest.raises(InputError, match="argmax, broken: was neither tested nor diverged in training"):
        main()
    assert not any(path.exists() for path in outputs(inputs))
