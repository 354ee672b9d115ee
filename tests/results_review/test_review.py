"""The review of a project of two stages, in a clone that lacks DVC's cache."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from results_review.__main__ import main
from results_review.commands import ReviewError, dvc, git, merge_base, stages
from results_review.comment import comment, shortened, stale_stages

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
IGNORED = "/runs/\n__pycache__/\n"


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


def test_a_source_that_is_deleted_and_a_stage_that_is_frozen_are_said(project):
    (project / "count.py").unlink()
    graph = (project / "dvc.yaml").read_text()
    (project / "dvc.yaml").write_text(graph.replace("  train:\n", "  train:\n    frozen: true\n"))
    said = sections(comment(merge_base("main")))
    stale, frozen = said["Stale stages"].splitlines()[2::2]
    assert stale == "- `count`: `count.py` is deleted"
    assert "'train' is frozen" in frozen
    assert said["Removed stages"].strip() == "None."


def test_stages_that_are_removed_are_those_of_the_base_without_those_of_the_working_tree(project, monkeypatch):
    base = merge_base("main")
    assert stages(base) == stages(None) == {"dvc.yaml:train", "dvc.yaml:count"}
    graph = project / "dvc.yaml"
    graph.write_text(graph.read_text().partition("  count:\n")[0])
    assert stages(None) == {"dvc.yaml:train"}
    monkeypatch.chdir(project / "metrics")
    assert stages(base) - stages(None) == {"dvc.yaml:count"}
    graph.unlink()
    assert stages(None) == set()
    assert "- `dvc.yaml:count`: no longer there\n- `dvc.yaml:train`: " in comment(base)


def test_a_cell_as_wide_as_a_table_does_not_pad_the_other_rows(project):
    wide = "x" * 1000
    (project / "params.yaml").write_text(json.dumps({"norm": "ln", "size": 7, "wide": wide}))
    table = comment(merge_base("main")).partition("### Parameters\n\n")[2].splitlines()
    assert table[1:4] == [
        "|---|---|---|---|",
        "| params.yaml | size | 100 | 7 |",
        f"| params.yaml | wide | - | {wide} |",
    ]


def test_a_comment_that_github_would_refuse_has_a_part_of_each_section_and_says_what_is_cut():
    row = "| " + 97 * "x" + "\n"
    parts = {"Stale stages": 10 * row, "Parameters": 2000 * row, "Metrics": 1000 * row, "Wide": 70_000 * "x"}
    text = "## Changed\n\n" + "\n\n".join(f"### {title}\n\n{part.strip()}" for title, part in parts.items()) + "\n"
    short = shortened(text)
    assert len(short) <= 65_536
    found = sections(short)
    assert found["Stale stages"] == parts["Stale stages"].strip() + "\n"
    assert found["Wide"].strip().startswith("**1 of 3 lines are cut**")
    for title, count in (("Parameters", 2000), ("Metrics", 1000)):
        *rows, note = found[title].splitlines()
        kept = rows.count(row.strip())
        assert note.startswith(f"**{count - kept} of {count + 2} lines are cut**: see review.md of the run's artifact")
        assert kept > 100
    assert shortened(short) == short


def test_a_mistake_is_one_line_and_exit_code_2(project, monkeypatch, capsys):
    (project / "dvc.yaml").write_text("{")
    monkeypatch.setattr(sys, "argv", ["results_review", "--comment", "comment.md"])
    with pytest.raises(SystemExit, match="2"):
        main()
    error = capsys.readouterr().err
    assert error.startswith("error: dvc status: ")
    assert "dvc.yaml" in error
    assert error.count("\n") == 1
    assert (project / "comment.md").read_text() == error


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


# A clone without DVC's cache: dependencies of a stage, one of them a folder of outputs, and the stages that wrote them.
ABSENT = {"runs/checked": "deleted", "data": "deleted"}
WRITERS = {"check": [{"changed outs": dict.fromkeys(["runs/checked", "data/argmax"], "not in cache")}]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/weights": "not in cache"}}], None),
        ([{"changed deps": {**ABSENT, "src/a.py": "modified", "params.yaml": {"norm": "new"}}}], "`norm`, `src/a.py`"),
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/weights": "deleted"}}], "`runs/weights` is deleted"),
        ([{"changed outs": {"metrics/a.json": "modified"}}], "`metrics/a.json` is modified"),
        ([{"changed deps": {**ABSENT, "src/a.py": "deleted"}}], "`src/a.py` is deleted"),
        ([{"changed deps": {"params.yaml": {"norm": "deleted"}}}], "`norm`"),
        ([{"changed deps": {"params.yaml": "deleted"}}], "`params.yaml` is deleted"),
        (["changed command"], "changed command"),
        ([{"changed deps": dict.fromkeys("abcde", "modified")}], "`a`, `b`, `c`, 2 more"),
    ],
)
def test_a_stage_is_stale_by_what_differs_not_by_what_only_the_cache_lacks(changes, said):
    lines = stale_stages({**WRITERS, "train@x": changes}).splitlines()[2:]
    assert lines == ([f"- `train@x`: {said}"] if said else [])
