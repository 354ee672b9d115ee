"""What other settings left beside the outputs of these ones."""

from pathlib import Path

import pytest
from checkout import ROOT
from dvc.repo import Repo
from scripts import stage

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.sections import PATH
from vanishing_variance.results.leftovers import remove_empty, remove_others

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what DVC calls
TOP = Path("runs/trained/softmax/none")
OURS = TOP / "short/argmax-0"


@pytest.fixture
def repo(tmp_path, monkeypatch):
    """A repository of DVC's with three outputs, in whose cache is that of another block."""
    monkeypatch.chdir(tmp_path)
    for folder in ("short/argmax-0", "short/argmax-1", "long/argmax-0"):
        write_text(TOP / folder / "weights", folder)
    with Repo.init(no_scm=True) as repo:
        repo.add(str(TOP / "short/argmax-1"))
        yield repo


def test_of_other_settings_what_the_cache_has_is_removed_and_comes_back(repo):
    remove_others({OURS})
    assert sorted(path.parent for path in TOP.rglob("weights")) == [TOP / "long/argmax-0", OURS]
    repo.checkout()
    assert (TOP / "short/argmax-1/weights").read_text() == "short/argmax-1"


@pytest.mark.usefixtures("repo")
def test_the_check_of_parameters_removes_them_before_a_stage_that_gathers_begins():
    write_text(PATH, (ROOT / "tests/smoke.yaml").read_text())
    assert stage("check") == (0, "")
    assert not (TOP / "short/argmax-1").exists()
    assert (OURS / "weights").exists()


@pytest.mark.parametrize("changed", ["weights", "more"])
def test_what_is_not_as_the_cache_has_it_is_kept(repo, changed):
    path = TOP / "short/argmax-1" / changed
    path.unlink(missing_ok=True)
    write_text(path, "changed")
    remove_others({OURS})
    assert path.read_text() == "changed"


def test_empty_folders_are_removed(tmp_path):
    write_text(tmp_path / "full/file", "")
    (tmp_path / "full/empty").mkdir()
    (tmp_path / "empty/in/empty").mkdir(parents=True)
    remove_empty(tmp_path)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "full", tmp_path / "full/file"]
