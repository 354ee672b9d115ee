"""The leaderboard's graph, run at smoke scale beside the study's."""

import pandas as pd

OWN = '''"""Softmax of half of the logits."""

LEARNABLE = {}


def scale(items, parameters):
    """Return one half."""
    return 0.5
'''


def test_it_ranks_every_line_on_both_tasks(first_run):
    copy = first_run[0]
    board = pd.read_csv(copy.path / "metrics/leaderboard/board.csv")
    trained = board[board["rule"] == "trained"]
    expected = {(task, line) for task in ("argmax", "dictionary") for line in ("softmax", "direct-power")}
    assert set(trained[["task", "line"]].itertuples(index=False, name=None)) == expected
    assert (trained["n"] == 2).all()
    assert set(board["rule"]) == {"trained", "adaptive", "fitted", "hard"}
    assert (copy.path / "plots/leaderboard/leaderboard.png").exists()
    assert "| 1" in (copy.path / "metrics/leaderboard/board.md").read_text()
    ceiling = pd.read_csv(copy.path / "metrics/leaderboard/ceiling.csv")
    assert set(ceiling["line"]) == {"softmax", "direct-power"}


def test_a_new_map_is_a_file_and_a_line_and_trains_alone(copy):
    (copy.path / "src/vanishing_variance/attentions/own.py").write_text(OWN)
    with (copy.path / "leaderboard/params.yaml").open("a") as lines:
        lines.write("  own: {attention: own, norm: none, projection: mlp, decay: none}\n")
    before = copy.outputs()
    ran = copy.ran("dvc", "repro", "leaderboard/dvc.yaml")
    ranked = ("train@own", "test@own", "board", "ceiling", "learned", "page")
    assert ran == {"check", *(f"leaderboard/dvc.yaml:{stage}" for stage in ranked)}
    assert copy.outputs() == before
    assert "own" in pd.read_csv(copy.path / "metrics/leaderboard/board.csv")["line"].to_numpy()
    assert "own" in copy("dvc", "metrics", "diff", "--md")
    assert copy.ran("dvc", "repro", "--dry", "train", "temperature", "evaluate") == set()


def test_a_line_that_is_no_treatment_is_refused_in_one_line(copy):
    with (copy.path / "leaderboard/params.yaml").open("a") as lines:
        lines.write("  own: {attention: hardmax, norm: none, projection: mlp, decay: none}\n")
    printed = copy("python", "-m", "stages.leaderboard_train", "--line", "own", exit_code=2)
    assert printed.startswith("error: leaderboard/params.yaml: treatments.own.attention is 'hardmax'; must be one of ")
    assert printed.count("\n") == 1
