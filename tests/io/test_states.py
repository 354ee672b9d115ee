"""Two states compared, and tried at smoke scale: in a project of two stages that need no time."""

import json

import pytest

from vanishing_variance.errors import InputError
from vanishing_variance.io import git
from vanishing_variance.io.dvc import reproduce
from vanishing_variance.io.states import facts, trial
from vanishing_variance.review.flips import flips
from vanishing_variance.review.lock import Change
from vanishing_variance.review.pairs import Pair

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
"""
TRAIN = """
import pathlib, sys
pathlib.Path("runs").mkdir(exist_ok=True)
pathlib.Path("runs", sys.argv[1]).write_text(sys.argv[1])
"""
JUDGE = """
import json, pathlib, sys
size = json.loads(pathlib.Path("params.yaml").read_text())["size"]
pathlib.Path("metrics").mkdir(exist_ok=True)
claim = {"claim": "c", "where": "w", "verdict": sys.argv[1], "ours": size, "unit": None}
for name, document in (("summary", {"size": size, "letters": len(sys.argv[1])}), ("claims", {"c": claim}),
                       ("argmax", {"short": {"00016": len(sys.argv[1]) * size}})):
    pathlib.Path(f"metrics/{name}.json").write_text(json.dumps(document))
"""


def set_params(root, path="params.yaml", **values):
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(json.dumps(values))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The project with its results, committed."""
    root = tmp_path_factory.mktemp("project")
    (root / ".dvc").mkdir()
    (root / ".dvc/config").write_text("[core]\n    analytics = false\n")
    (root / ".dvc/.gitignore").write_text("/config.local\n/tmp\n/cache\n")
    (root / ".gitignore").write_text("/runs/\n")
    for name, text in (("dvc.yaml", STAGES), ("train.py", TRAIN), ("judge.py", JUDGE)):
        (root / name).write_text(text)
    set_params(root, norm="ln", seed=0, size=100)
    set_params(root, "tests/smoke.yaml", norm="ln", seed=0, size=2)
    git.commit_all(root, "code")
    made = reproduce(root)
    assert (made.ran, made.lines) == (["train@none", "train@ln", "judge"], [])
    git.commit_all(root, "results")
    return root


@pytest.fixture
def root(results):
    """The project, put back afterwards."""
    base = git.commit(results, "HEAD")
    yield results
    for name in git.files(results):
        (results / name).unlink()
    git.export(results, base, results)


def test_nothing_changed(root):
    found = facts(root, "HEAD")
    assert (found.parameters, found.metrics, found.details, found.files, found.changes, found.stale) == (
        *([], [], [], [], []),
        {},
    )
    assert found.claims[0] == found.claims[1] is not None


def test_an_edit_without_a_run_is_stale_and_after_a_run_its_results_and_stages_are_told(root):
    set_params(root, norm="std", seed=0, size=100)
    before = facts(root, "HEAD")
    assert before.parameters == [Pair("params.yaml", "norm", "ln", "std")]
    assert list(before.stale) == ["train@std", "judge"]
    assert (before.metrics, before.files) == ([], [])
    assert reproduce(root).failed is None
    after = facts(root, "HEAD")
    assert after.stale == {}
    assert after.metrics == [Pair("metrics/summary.json", "letters", 2, 3)]
    assert after.details == [Pair("metrics/argmax.json", "short.00016", 200, 300)]
    assert [(flip.before, flip.after) for flip in flips(*after.claims)] == [("ln", "std")]
    assert ("M", "metrics/claims.json") in after.files
    judged = {"metrics/argmax.json": True, "metrics/claims.json": True, "metrics/summary.json": True}
    assert after.changes == [
        Change("train@std", "new", (), {"runs/std": True}),
        Change("judge", "ran", ("its command", "what `train` made"), judged),
        Change("train@ln", "gone", (), {}),
    ]


def test_a_base_without_results_has_nothing_to_compare_with(root):
    found = facts(root, "HEAD~1")
    assert found.claims[0] is None
    assert {change.kind for change in found.changes} == {"new"}
    assert all(pair.before is None for pair in found.metrics)


def test_both_at_smoke_scale_the_tree_upon_the_bases_results(root):
    set_params(root, norm="std", seed=0, size=200)
    (root / "notes.txt").write_text("not committed")
    tried = trial(root, "HEAD")
    assert tried.base.ran == ["train@none", "train@ln", "judge"]
    assert tried.tree.ran == ["train@std", "judge"]
    assert tried.tree.failed is None
    assert tried.untried == ["size"]
    assert tried.facts.parameters == [Pair("params.yaml", "norm", "ln", "std")]
    assert tried.facts.details == [Pair("metrics/argmax.json", "short.00016", 4, 6)]
    assert git.differing(root, "HEAD", ".") == [("A", "notes.txt"), ("M", "params.yaml")]


def test_a_stage_that_fails_at_smoke_scale_is_named_with_what_it_said(root):
    (root / "judge.py").write_text("raise SystemExit('error: nothing to judge')")
    tried = trial(root, "HEAD")
    assert tried.base.failed is None
    assert tried.tree.failed == "judge"
    assert "error: nothing to judge" in tried.tree.lines


@pytest.mark.parametrize(
    ("path", "said"),
    [("metrics/claims.json", "cannot be read as JSON"), ("dvc.yaml", "^dvc stage list .*dvc.yaml' is invalid")],
)
def test_a_damaged_file_is_named_in_one_line(root, path, said):
    (root / path).write_text("{")
    with pytest.raises(InputError, match=said) as refused:
        facts(root, git.commit(root, "HEAD"))
    assert "\n" not in str(refused.value)
