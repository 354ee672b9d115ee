"""Tests of a study that would run without trained weights are named, and none of their results is removed."""

import shutil
from pathlib import Path

import pytest
from dvc.cli import main as dvc

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.yaml import written
from vanishing_variance.studies.weights import require_weights

# A study's graph in small.
GRAPH = """
vars: [study.yaml]
stages:
  train:
    matrix: {line: "${lines}"}
    wdir: ../..
    cmd: mkdir -p runs/${item.line} && echo weights > runs/${item.line}/weights
    params: [{studies/mine/plan.yaml: ["train.${item.line}"]}]
    outs: ["runs/${item.line}"]
  test:
    matrix: {line: "${lines}"}
    wdir: ../..
    cmd: cp runs/${item.line}/weights studies/mine/${item.line}.csv
    deps: ["runs/${item.line}"]
    params: [{studies/mine/plan.yaml: ["test.${item.line}"]}]
    outs: ["studies/mine/${item.line}.csv": {cache: false}]
"""
MINE = Path("studies/mine")
REPRO = ("repro", "--quiet", "--allow-missing", str(MINE / "dvc.yaml"))
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:dvc.*")


def plan(**lines):
    """Write a study of lines, and the parts of their plans: what training reads, and what the test reads."""
    write_text(MINE / "study.yaml", written({"lines": list(lines)}))
    trained = {line: train for line, (train, _) in lines.items()}
    tested = {line: test for line, (_, test) in lines.items()}
    write_text(MINE / "plan.yaml", written({"train": trained, "test": tested}))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study whose two lines are trained and tested."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_text(MINE / "dvc.yaml", GRAPH)
        plan(a=(1, 1), b=(1, 1))
        assert dvc(["init", "--quiet", "--no-scm"]) == 0
        assert dvc([*REPRO]) == 0
    return folder


@pytest.fixture(autouse=True)
def _here(finished, tmp_path, monkeypatch):
    shutil.copytree(finished, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")


@pytest.fixture
def in_a_clone():
    """Neither weights nor a cache."""
    shutil.rmtree("runs")
    shutil.rmtree(".dvc/cache")


def refused():
    with pytest.raises(InputError) as problem:
        require_weights("mine")
    assert {path.name for path in MINE.glob("*.csv")} == {"a.csv", "b.csv"}
    return str(problem.value)


@pytest.mark.usefixtures("in_a_clone")
def test_a_stale_test_without_weights_is_named():
    plan(a=(1, 1), b=(1, 2))
    said = refused()
    assert said.startswith("study mine: test@b would run again (studies/mine/plan.yaml changed), but the trained ")
    assert said.endswith(", as in: dvc repro studies/mine/dvc.yaml:test@b")
    plan(a=(1, 2), b=(1, 2))
    assert refused().startswith("study mine: test@a, test@b would run again ")


@pytest.mark.usefixtures("in_a_clone")
def test_empty_folders_are_no_weights():
    """`dvc pull` leaves them."""
    Path("runs/b").mkdir(parents=True)
    assert "test@b would run again (runs/b changed)" in refused()


@pytest.mark.usefixtures("in_a_clone")
def test_a_line_that_is_trained_anyway_and_one_that_has_not_changed_need_none():
    plan(a=(1, 1), b=(2, 2), c=(1, 1))
    require_weights("mine")
    assert dvc([*REPRO]) == 0
    assert not Path("runs/a").exists()
    assert (MINE / "c.csv").exists()


def test_weights_in_the_cache_are_put_back():
    shutil.rmtree("runs")
    plan(a=(1, 1), b=(1, 2))
    require_weights("mine")
    assert [path.name for path in Path("runs").iterdir()] == ["b"]
    assert dvc([*REPRO]) == 0


def test_missing_results_of_a_test_that_will_not_run_are_named():
    (MINE / "a.csv").unlink()
    with pytest.raises(InputError, match=r"^studies/mine/a\.csv is missing; put it back by git, or test again: dvc"):
        require_weights("mine")
