"""The review of a project of two stages, in a clone that lacks DVC's cache."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from results_review.__main__ import main
from results_review.commands import ReviewError, dvc, git, merge_base
from results_review.comment import comment, stale_stages

STAGES = """
stages:
  train:
    cmd: mkdir -p runs; echo ${norm} > runs/weights
    params: [norm]
    outs: [runs/weights]
  count:
    cmd: python count.py
    deps: [count.py, runs/weights]
    params: [size]
    metrics: [metrics/summary.json: {cache: false}]
"""
COUNT = """
import json, pathlib
norm = pathlib.Path("runs/weights").read_text().strip()
pathlib.Path("metrics/summary.json").write_text(json.dumps({"letters": len(norm)}))
"""
IGNORED = "/runs/\n/.dvc/\n__pycache__/\n"


def commit(message):
    git("add", "--all")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", message)


def write_params(path, norm):
    path.write_text(json.dumps({"norm": norm, "size": 100}))


def repro(folder):
    """Run the graph; then delete what git does not keep, as in a clone without a remote."""
    subprocess.run([sys.executable, "-m", "dvc", "repro", "--quiet"], cwd=folder, check=True)
    for name in ("runs", ".dvc/cache", ".dvc/tmp"):
        shutil.rmtree(folder / name)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The project with two commits, its code and its results."""
    folder = tmp_path_factory.mktemp("project")
    files = {"dvc.yaml": STAGES.replace("python", sys.executable), "count.py": COUNT, ".gitignore": IGNORED}
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "metrics").mkdir()
    write_params(folder / "params.yaml", "ln")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        git("init", "--quiet", "--initial-branch", "main")
        dvc("init", "--quiet")
        for asks in ("check_update", "analytics"):  # in the background, and leaves files in .dvc/tmp
            dvc("config", f"core.{asks}", "false")
        commit("code")
        repro(folder)
        commit("results")
    return folder


@pytest.fixture
def project(results, tmp_path, monkeypatch):
    """A copy of the project, as the current folder."""
    folder = tmp_path / "copy"
    shutil.copytree(results, folder)
    monkeypatch.chdir(folder)
    return folder


def sections(text):
    """The comment's sections by title, without the padding of DVC's tables."""
    text = re.sub(" +", " ", text)
    return dict(section.split("\n\n", 1) for section in text.split("\n### ")[1:])


def test_an_edit_without_a_run_is_stale_and_a_run_changes_the_metric(project):
    write_params(project / "params.yaml", "std-dev")
    base = merge_base("main")
    edited = sections(comment(base))
    assert edited["Stale stages"].splitlines()[2:] == ["- `train`: `norm`, changed command"]
    assert edited["Parameters"].splitlines()[2:3] == ["| params.yaml | norm | ln | std-dev |"]
    assert edited["Metrics"].strip() == "None."
    repro(project)
    run = sections(comment(base))
    assert run["Stale stages"].strip() == "None."
    assert run["Metrics"].splitlines()[2:] == ["| metrics/summary.json | letters | 2 | 7 | 5 |"]


def test_a_mistake_is_one_line_and_exit_code_2(project, monkeypatch, capsys):
    (project / "dvc.yaml").write_text("{")
    monkeypatch.setattr(sys, "argv", ["results_review"])
    with pytest.raises(SystemExit, match="2"):
        main()
    error = capsys.readouterr().err
    assert error.startswith("error: dvc status: ")
    assert "dvc.yaml" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("revision", ["bogus", "--all", "main:count.py", "a\nb"])
def test_an_unknown_revision_is_refused(project, revision):
    with pytest.raises(ReviewError) as refused:
        merge_base(revision)
    assert str(refused.value).startswith(f"--base: {revision!r} is unknown")


def test_a_branch_is_compared_with_where_it_left(project):
    git("checkout", "--quiet", "-b", "branch", "main~1")
    assert merge_base("main") == git("rev-parse", "HEAD").strip()
    git("checkout", "--quiet", "--orphan", "alone")
    commit("alone")
    with pytest.raises(ReviewError, match=r"^--base: 'main' has no commit in common with HEAD"):
        merge_base("main")


# A clone without DVC's cache.
ABSENT = {"runs/checked": "deleted", "data/argmax": "deleted"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/weights": "not in cache"}}], None),
        ([{"changed deps": {**ABSENT, "src/a.py": "modified", "params.yaml": {"norm": "new"}}}], "`norm`, `src/a.py`"),
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/weights": "deleted"}}], "`runs/weights` is deleted"),
        ([{"changed outs": {"metrics/a.json": "modified"}}], "`metrics/a.json` is modified"),
        (["changed command"], "changed command"),
        ([{"changed deps": dict.fromkeys("abcde", "modified")}], "`a`, `b`, `c`, 2 more"),
    ],
)
def test_a_stage_is_stale_by_what_differs_not_by_what_only_the_cache_lacks(changes, said):
    lines = stale_stages({"train@x": changes}).splitlines()[2:]
    assert lines == ([f"- `train@x`: {said}"] if said else [])
