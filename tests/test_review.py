"""The review of a project of two stages, in a clone that lacks DVC's cache."""

import json
import runpy
import shutil
import subprocess
import sys

import pytest
from checkout import ROOT

SCRIPT = ROOT / ".github/review.py"
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


def write_params(folder, **params):
    (folder / "params.yaml").write_text(json.dumps({"norm": "ln", "size": 100} | params))


def repro(folder):
    """Run the graph; then delete what git does not keep, as in a clone without a remote."""
    subprocess.run([sys.executable, "-m", "dvc", "repro", "--quiet"], cwd=folder, check=True)
    for name in ("runs", ".dvc/cache", ".dvc/tmp"):
        shutil.rmtree(folder / name)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The project with a commit of its results."""
    folder = tmp_path_factory.mktemp("project")
    files = {"dvc.yaml": STAGES.replace("python", sys.executable), "count.py": COUNT, ".gitignore": IGNORED}
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "metrics").mkdir()
    write_params(folder)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    dvc = [sys.executable, "-m", "dvc"]
    subprocess.run([*git, "init", "--quiet", "--initial-branch", "main"], cwd=folder, check=True)
    subprocess.run([*dvc, "init", "--quiet"], cwd=folder, check=True)
    for asks in ("check_update", "analytics"):  # in the background, and leaves files in .dvc/tmp
        subprocess.run([*dvc, "config", f"core.{asks}", "false"], cwd=folder, check=True)
    repro(folder)
    subprocess.run([*git, "add", "--all"], cwd=folder, check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "results"], cwd=folder, check=True)
    return folder


@pytest.fixture
def project(results, tmp_path):
    return shutil.copytree(results, tmp_path / "copy")


def review(project, base="main"):
    """Return the lines of the sections on stages, parameters and metrics."""
    command = [sys.executable, str(SCRIPT), base]
    text = subprocess.run(command, cwd=project, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    return [section.splitlines()[2:] for section in text.split("\n### ")[1:]]


def test_an_edit_without_a_run_is_stale_and_a_run_changes_the_metric(project):
    write_params(project, norm="std-dev", wide="x" * 1000)
    stale, params, metrics = review(project)
    assert stale == ["- `train`: `norm`, changed command"]
    head, *rows = params[1:]
    assert head == "|---|---|---|---|"
    assert rows == ["| params.yaml | norm | ln | std-dev |", f"| params.yaml | wide | - | {'x' * 1000} |"]
    assert metrics == ["None."]
    repro(project)
    stale, _, metrics = review(project)
    assert stale == ["None."]
    assert metrics[2:] == ["| metrics/summary.json | letters | 2 | 7 | 5 |"]


def test_a_deleted_source_makes_a_stage_stale_and_a_deleted_output_does_not(project):
    (project / "count.py").unlink()
    assert review(project) == [["- `count`: `count.py` is deleted"], ["None."], ["None."]]


def test_stages_of_a_matrix_with_the_same_reasons_are_one_line(monkeypatch):
    monkeypatch.chdir(ROOT)
    absent = {"changed outs": {"runs/weights": "not in cache"}}
    status = {
        **{f"train@{seed}": ["changed command", {"changed deps": {"src": "modified"}}, absent] for seed in range(3)},
        "train@other": [{"changed deps": {"params.yaml": {"norm": "new"}}}, absent],
        "test": [{"changed deps": {"runs/weights": "deleted"}}, {"changed outs": {"metrics/a.json": "modified"}}],
        "report": [{"changed deps": {"runs/weights": "deleted"}}, absent],
    }
    assert runpy.run_path(str(SCRIPT))["stale_stages"](status, "HEAD").splitlines() == [
        "- `train`: changed command, `src` (3 stages)",
        "- `train@other`: `norm`",
        "- `test`: `metrics/a.json`",
    ]


@pytest.mark.parametrize(
    ("graph", "base", "said"), [(None, "bogus", "fatal: "), ("{", "main", "'./dvc.yaml' is invalid")]
)
def test_what_git_or_dvc_refuses_fails_with_their_words(project, graph, base, said):
    if graph:
        (project / "dvc.yaml").write_text(graph)
    command = [sys.executable, str(SCRIPT), base]
    ended = subprocess.run(command, cwd=project, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode
    assert ended.stderr.startswith(said)
    assert ended.stdout == ""
