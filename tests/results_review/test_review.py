"""The review of a project of two stages that need no time, without its cache; and both states tried at smoke scale."""

import io
import json
import shutil
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest
from dvc.cli import main as dvc_main

from results_review import commands
from results_review.__main__ import main
from results_review.commands import ReviewError, git, merge_base
from results_review.compare import compare
from results_review.smoke import reproduce, try_both
from results_review.stages import Change

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

STAGES = """
stages:
  train:
    matrix: {norm: [none, "${norm}"]}
    cmd: mkdir -p runs; echo ${item.norm} > runs/${item.norm}
    params: [seed]
    outs: ["runs/${item.norm}"]
  judge:
    cmd: python judge.py ${norm}
    deps: [judge.py, runs/none, "runs/${norm}"]
    params: [size]
    metrics: [metrics/summary.json: {cache: false}]
    outs: [metrics/claims.json: {cache: false}, metrics/argmax.json: {cache: false}, plots/figures: {cache: false}]
"""
JUDGE = """
import json, pathlib, sys, yaml
size, norm = yaml.safe_load(pathlib.Path("params.yaml").read_text())["size"], sys.argv[1]
claim = {"claim": "c", "where": "w", "verdict": norm, "ours": size, "unit": None}
pathlib.Path("metrics").mkdir(exist_ok=True)
for name, document in (("summary", {"size": size, "letters": len(norm)}), ("claims", {"c": claim}),
                       ("argmax", {"short": {"00016": len(norm) * size}})):
    pathlib.Path(f"metrics/{name}.json").write_text(json.dumps(document))
pathlib.Path("plots/figures").mkdir(parents=True)
pathlib.Path("plots/figures/loss.svg").write_text(norm)
"""
# Those of the judge.
MADE = dict.fromkeys(("metrics/argmax.json", "metrics/claims.json", "metrics/summary.json", "plots/figures"), True)


def commit(root, message):
    git(root, "add", "--all")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", message)


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)


def params(**values):
    return json.dumps({"norm": "ln", "seed": 0, "size": 100} | values)


def without_cache(root):
    for name in ("runs", ".dvc/cache", ".dvc/tmp"):
        shutil.rmtree(root / name)


def head(root):
    return git(root, "rev-parse", "HEAD").strip()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The project with its results, committed, and a clone's empty cache."""
    root = tmp_path_factory.mktemp("project")
    write(root, {".dvc/config": "[core]\n    analytics = false\n    check_update = false\n"})
    write(root, {".dvc/.gitignore": "/config.local\n/tmp\n/cache\n", ".gitignore": "/runs/\n", "dvc.yaml": STAGES})
    write(root, {"judge.py": JUDGE, "params.yaml": params(), "tests/smoke.yaml": params(size=2)})
    git(root, "init", "--quiet", "--initial-branch", "main")
    commit(root, "code")
    assert reproduce(root).failure == ""
    commit(root, "results")
    without_cache(root)
    return root


@pytest.fixture
def root(results, monkeypatch):
    """The project, put back afterwards; DVC's commands are run in this process, which takes a second less for each."""

    def dvc(root, *arguments):
        with chdir(root), redirect_stdout(io.StringIO()) as printed:
            assert dvc_main(arguments) == 0
        return printed.getvalue()

    monkeypatch.setattr(commands, "dvc", dvc)
    monkeypatch.setenv("DVC_TEST", "true")  # or it puts another standard output in place of ours
    base = head(results)
    yield results
    git(results, "checkout", "--quiet", "--force", "main")
    git(results, "reset", "--quiet", "--hard", base)
    git(results, "clean", "--quiet", "--force", "-d", "-x")


def test_an_edit_without_a_run_is_stale_and_after_a_run_its_results_and_stages_are_told(root):
    base = head(root)
    write(root, {"params.yaml": params(norm="std")})
    before = compare(root, base)
    assert before.parameters.splitlines()[2:] == ["| params.yaml | norm | ln | std |"]
    assert [change.stage for change in before.stale] == ["train@std", "judge"]
    assert (before.metrics, before.figures, before.flips) == ("", [], [])
    assert before.changes == [Change("train@ln", "gone")]
    assert reproduce(root).failure == ""
    without_cache(root)
    after = compare(root, base)
    assert after.stale == []
    assert after.metrics.splitlines()[2:] == ["| metrics/summary.json | letters | 2 | 3 | 1 |"]
    assert after.details.splitlines()[2:] == ["| metrics/argmax.json | short.00016 | 200 | 300 | 100 |"]
    assert after.flips == [("c", "w", "ln → std", "100 → 100")]
    assert after.figures == ["plots/figures/loss"]
    ran = Change("judge", "ran", ("its command", "what `train` made"), MADE)
    assert after.changes == [Change("train@std", "new", (), {"runs/std": True}), ran, Change("train@ln", "gone")]


def test_a_graph_beside_the_first_is_reviewed_too(root):
    train = {"cmd": "mkdir -p runs; echo > runs/more", "wdir": "..", "outs": ["runs/more"]}
    write(root, {"beside/dvc.yaml": json.dumps({"stages": {"train": train}})})
    assert compare(root, "HEAD").stale == [Change("beside/dvc.yaml:train", "stale", ("it has not run",))]
    commands.dvc(root, "repro", "beside/dvc.yaml")
    without_cache(root)
    after = compare(root, "HEAD")
    assert (after.stale, after.changes) == ([], [Change("beside/dvc.yaml:train", "new", (), {"runs/more": True})])


def test_the_command_prints_the_comment_and_writes_it(root, monkeypatch, capsys):
    """Against a base without results there is nothing to compare; `-` is DVC's word for it."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["results_review", "--base", "HEAD~1", "--output", "out/review.md"])
    main()
    printed = capsys.readouterr().out
    assert printed == Path("out/review.md").read_text()
    assert "## 2 metrics, 1 other number and 1 figure changed; 3 stages ran\n" in printed
    assert "| metrics/summary.json | size | - | 100 | - |" in printed


def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["results_review"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: --base: 'main' is unknown")
    assert said.count("\n") == 1


def test_both_are_tried_at_smoke_scale_in_a_clone_the_tree_upon_the_bases_results(root):
    """A graph beside the first is not run."""
    write(root, {"params.yaml": params(norm="std", size=200), "beside/dvc.yaml": "stages: {x: {cmd: exit 1}}"})
    base = head(root)
    tried = try_both(root, base, "tests/smoke.yaml", ["norm", "seed", "bogus"])
    assert (tried.base.stages, tried.tree.stages, tried.tree.failure) == (3, 2, "")
    assert list(tried.untried) == ["size"]
    assert tried.comparison.parameters.splitlines()[2:] == ["| params.yaml | norm | ln | std |"]
    assert [change.kind for change in tried.comparison.changes] == ["new", "ran", "gone"]
    assert tried.comparison.details.splitlines()[2:] == ["| metrics/argmax.json | short.00016 | 4 | 6 | 2 |"]
    assert git(root, "status", "--porcelain").splitlines() == [" M params.yaml", "?? beside/"]


@pytest.mark.parametrize(("path", "said"), [("metrics/claims.json", "the claims"), ("dvc.yaml", r"^dvc: .*dvc\.yaml")])
def test_a_damaged_file_is_named_in_one_line(root, path, said):
    write(root, {path: "{"})
    with pytest.raises(ReviewError, match=said) as refused:
        compare(root, "HEAD")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("revision", ["bogus", "", "--all", "main:judge.py", "a\nb", "\udcff", "x" * 999])
def test_what_is_no_revision_is_refused(root, revision):
    with pytest.raises(ReviewError) as refused:
        merge_base(root, revision)
    assert str(refused.value).startswith(f"--base: {revision!r:.80} is unknown")


def test_a_branch_is_compared_with_where_it_left(root):
    git(root, "checkout", "--quiet", "-b", "branch", "main~1")
    assert merge_base(root, "main") == head(root)
    git(root, "checkout", "--quiet", "--orphan", "alone")
    commit(root, "alone")
    with pytest.raises(ReviewError, match=r"^--base: 'main' has no commit in common with HEAD"):
        merge_base(root, "main")
