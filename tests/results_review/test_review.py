"""The review of a project of two stages that need no time, without its cache; and both states tried at smoke scale."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from results_review.__main__ import main
from results_review.commands import ReviewError, dvc, git, merge_base, snapshot
from results_review.compare import compare
from results_review.smoke import LINES, WIDTH, reproduce, try_both
from results_review.stages import Change

STAGES = """
stages:
  train:
    matrix:
      norm: [none, "${norm}"]
    cmd: python train.py ${item.norm}
    deps: [train.py]
    params: [seed]
    outs: ["runs/${item.norm}"]
  judge:
    cmd: python judge.py ${norm}
    deps: [judge.py, runs/none, "runs/${norm}"]
    params: [size]
    metrics:
      - metrics/summary.json: {cache: false}
    outs:
      - metrics/claims.json: {cache: false}
      - metrics/argmax.json: {cache: false}
      - plots/figures: {cache: false}
"""
TRAIN = """
import pathlib, sys
pathlib.Path("runs").mkdir(exist_ok=True)
pathlib.Path("runs", sys.argv[1]).write_text(sys.argv[1])
"""
JUDGE = """
import json, pathlib, sys, yaml
size = yaml.safe_load(pathlib.Path("params.yaml").read_text())["size"]
pathlib.Path("metrics").mkdir(exist_ok=True)
claim = {"claim": "c", "where": "w", "verdict": sys.argv[1], "ours": size, "unit": None}
for name, document in (("summary", {"size": size, "letters": len(sys.argv[1])}), ("claims", {"c": claim}),
                       ("argmax", {"short": {"00016": len(sys.argv[1]) * size}})):
    pathlib.Path(f"metrics/{name}.json").write_text(json.dumps(document))
pathlib.Path("plots/figures").mkdir(parents=True)
pathlib.Path("plots/figures/loss.svg").write_text(sys.argv[1])
"""


def commit(root, message):
    git(root, "add", "--all")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", message)


def set_params(root, path="params.yaml", **values):
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(json.dumps(values))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The project with its results, committed, and a clone's empty cache."""
    root = tmp_path_factory.mktemp("project")
    (root / ".dvc").mkdir()
    (root / ".dvc/config").write_text("[core]\n    analytics = false\n")
    (root / ".dvc/.gitignore").write_text("/config.local\n/tmp\n/cache\n")
    (root / ".gitignore").write_text("/runs/\n")
    for name, text in (("dvc.yaml", STAGES), ("train.py", TRAIN), ("judge.py", JUDGE)):
        (root / name).write_text(text)
    set_params(root, norm="ln", seed=0, size=100)
    set_params(root, "tests/smoke.yaml", norm="ln", seed=0, size=2)
    git(root, "init", "--quiet", "--initial-branch", "main")
    commit(root, "code")
    assert reproduce(root).failure == ""
    commit(root, "results")
    for name in ("runs", ".dvc/cache", ".dvc/tmp"):
        shutil.rmtree(root / name)
    return root


@pytest.fixture
def root(results):
    """The project, put back afterwards."""
    base = git(results, "rev-parse", "HEAD").strip()
    yield results
    git(results, "checkout", "--quiet", "--force", "main")
    git(results, "reset", "--quiet", "--hard", base)
    git(results, "clean", "--quiet", "--force", "-d", "-x")


def test_an_edit_without_a_run_is_stale_and_after_a_run_its_results_and_stages_are_told(root):
    base = git(root, "rev-parse", "HEAD").strip()
    set_params(root, norm="std", seed=0, size=100)
    before = compare(root, base)
    assert before.parameters.splitlines()[2:] == ["| params.yaml | norm | ln | std |"]
    assert [change.stage for change in before.stale] == ["train@std", "judge"]
    assert (before.metrics, before.figures, before.flips, before.changes) == (
        *("", [], []),
        [Change("train@ln", "gone")],
    )
    assert reproduce(root).failure == ""
    shutil.rmtree(root / "runs")
    shutil.rmtree(root / ".dvc/cache")
    after = compare(root, base)
    assert after.stale == []
    assert after.metrics.splitlines()[2:] == ["| metrics/summary.json | letters | 2 | 3 | 1 |"]
    assert after.details.splitlines()[2:] == ["| metrics/argmax.json | short.00016 | 200 | 300 | 100 |"]
    assert after.flips == [("c", "w", "ln → std", "100 → 100")]
    assert after.figures == ["plots/figures/loss"]
    made = ("metrics/argmax.json", "metrics/claims.json", "metrics/summary.json", "plots/figures")
    assert after.changes == [
        Change("train@std", "new", (), {"runs/std": True}),
        Change("judge", "ran", ("its command", "what `train` made"), dict.fromkeys(made, True)),
        Change("train@ln", "gone"),
    ]


def test_a_result_that_a_commit_deletes_is_told(root):
    base = git(root, "rev-parse", "HEAD").strip()
    git(root, "rm", "--quiet", "metrics/argmax.json")
    commit(root, "deleted")
    assert compare(root, base).stale == [Change("judge", "stale", ("`metrics/argmax.json` is deleted",))]


def beside(root):
    """Write a graph beside the first."""
    train = {"cmd": "python train.py more", "wdir": "..", "deps": ["train.py"], "outs": ["runs/more"]}
    (root / "beside").mkdir()
    (root / "beside/dvc.yaml").write_text(json.dumps({"stages": {"train": train}}))


def test_a_graph_beside_the_first_is_stale_only_when_it_has_changed(root):
    beside(root)
    assert [change.stage for change in compare(root, "HEAD").stale] == ["beside/dvc.yaml:train"]
    dvc(root, "repro", "beside/dvc.yaml")
    shutil.rmtree(root / "runs")
    after = compare(root, "HEAD")
    assert after.stale == []
    assert after.changes == [Change("beside/dvc.yaml:train", "new", (), {"runs/more": True})]


def test_the_command_prints_the_comment_and_writes_it(root, monkeypatch, capsys):
    """Against a base without results there is nothing to compare; `-` is DVC's word for it."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["results_review", "--base", "HEAD~1", "--output", "out/review.md"])
    main()
    printed = capsys.readouterr().out
    assert printed == Path("out/review.md").read_text()
    assert "## 2 metrics, 1 other number and 1 figure changed; 3 stages ran\n" in printed
    assert "| metrics/summary.json | size | - | 100 | - |" in printed
    assert "| `train` × 2 | new |  |" in printed
    assert "WARNING" not in printed


def test_both_at_smoke_scale_the_tree_upon_the_bases_results(root):
    beside(root)
    (root / "beside/dvc.lock").write_text(json.dumps({"schema": "2.0", "stages": {"train": {"cmd": "another"}}}))
    set_params(root, norm="std", seed=0, size=200)
    (root / "notes.txt").write_text("not committed")
    base = git(root, "rev-parse", "HEAD").strip()
    tried = try_both(root, base, "tests/smoke.yaml", ["norm", "seed", "bogus"])
    assert (tried.base.stages, tried.tree.stages, tried.tree.failure) == (3, 2, "")
    assert list(tried.untried) == ["size"]
    assert tried.comparison.parameters.splitlines()[2:] == ["| params.yaml | norm | ln | std |"]
    assert [change.kind for change in tried.comparison.changes] == ["new", "ran", "gone"]
    assert tried.comparison.details.splitlines()[2:] == ["| metrics/argmax.json | short.00016 | 4 | 6 | 2 |"]
    assert git(root, "status", "--porcelain").splitlines() == [" M params.yaml", "?? beside/", "?? notes.txt"]


def test_a_stage_that_fails_is_shown_by_its_last_lines(root):
    said = "for n in range(99): print('x' * 999, end='\\r\\n')\nraise SystemExit('error: nothing to judge')"
    (root / "judge.py").write_text(said)
    lines = reproduce(root).failure.splitlines()
    assert "error: nothing to judge" in lines
    assert lines[-1].startswith("ERROR: failed to reproduce 'judge'")
    assert (len(lines), max(map(len, lines))) == (LINES, WIDTH)


@pytest.mark.parametrize(
    ("path", "said"),
    [("metrics/claims.json", "the claims cannot be read as JSON"), ("dvc.yaml", r"^dvc: .*dvc\.yaml")],
)
def test_a_damaged_file_is_named_in_one_line(root, path, said):
    (root / path).write_text("{")
    with pytest.raises(ReviewError, match=said) as refused:
        compare(root, git(root, "rev-parse", "HEAD").strip())
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "revision", ["bogus", "", "--all", "HEAD~9", "main:judge.py", "-h", "a\nb", "\udcff", "x" * 999]
)
def test_what_is_no_revision_is_refused_in_one_line(root, monkeypatch, capsys, revision):
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["results_review", f"--base={revision}"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said == f"error: --base: {revision!r:.80} is unknown; must be a revision of this git repository\n"


def test_a_branch_is_compared_with_where_it_left(root):
    git(root, "checkout", "--quiet", "-b", "branch", "main~1")
    assert merge_base(root, "main") == git(root, "rev-parse", "main~1").strip()
    git(root, "checkout", "--quiet", "--orphan", "alone")
    commit(root, "alone")
    with pytest.raises(ReviewError, match=r"^--base: 'main' has no commit in common with HEAD; fetch the whole"):
        merge_base(root, "main")


def test_a_snapshot_is_what_git_has_or_would_take(root):
    (root / "judge.py").unlink()
    (root / "new é.py").touch()
    (root / "runs").mkdir()
    (root / "runs/weights").touch()
    listed = git(root, "diff", "--name-status", "-z", "HEAD", snapshot(root)).split("\0")[:-1]
    assert listed == ["D", "judge.py", "A", "new é.py"]
    assert git(root, "diff", "--cached", "--name-only") == ""


def test_a_folder_without_git_is_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "results_review"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
