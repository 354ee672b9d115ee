import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from checkout import STUDY, Copy
from filelock import FileLock
from graph import Ran, Runner, resolve


@dataclass
class Whole:
    """A copy of this checkout in which every stage has run once."""

    folder: Path
    runner: Runner
    graph: dict
    before: set
    ran: dict[str, Ran] = field(default_factory=dict)
    files: set = field(default_factory=set)

    def read(self, name):
        """Return the files that a stage has opened and that are there still."""
        return {file for file in self.ran[name].opened if (self.folder / file).is_file()}


@pytest.fixture(scope="package")
def whole(tmp_path_factory):
    """Run every stage of both graphs, the paper's and a study's, each after those that it depends on."""
    top = tmp_path_factory.mktemp("whole")
    copy = Copy.of_this_checkout(top / "copy")
    before = set(copy("git", "ls-files").split())
    with Runner(top) as runner:
        found = Whole(copy.path, runner, resolve(copy.path), before)
        for name, stage in found.graph.items():
            found.ran[name] = runner(copy.path, *stage.words[2:])
        paths = (path.relative_to(copy.path) for path in copy.path.rglob("*") if path.is_file())
        found.files = {str(path) for path in paths if not {".git", ".dvc", "__pycache__"} & set(path.parts)}
        yield found


@pytest.fixture
def editable(whole, tmp_path):
    """A copy of the sources and parameters alone, to change."""
    folder = tmp_path / "copy"
    left_out = shutil.ignore_patterns("runs", "data", "metrics", "plots", "__pycache__", "lock", "tmp", "cache")
    shutil.copytree(whole.folder, folder, ignore=left_out, symlinks=True)
    return folder


@pytest.fixture(scope="session")
def by_dvc(tmp_path_factory, worker_id):
    """A copy after its first `dvc repro` of both graphs, committed, left as it is; and the stages that ran.

    All processes that run tests share it: the first to come makes it, and the others wait.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "by-dvc"
    finished = folder / "finished.json"
    with FileLock(f"{folder}.lock"):
        if not finished.exists():
            shutil.rmtree(folder, ignore_errors=True)
            copy = Copy.of_this_checkout(folder / "copy")
            ran = copy.ran("dvc", "repro")
            copy("dvc", "repro", f"{STUDY}/dvc.yaml")
            copy.commit("results")
            finished.write_text(json.dumps(sorted(ran)))
    return Copy(folder / "copy"), set(json.loads(finished.read_text()))


@pytest.fixture(scope="module")
def first_run(by_dvc, tmp_path_factory):
    """The same, with a copy of the file's own."""
    copy = Copy(tmp_path_factory.mktemp("pipeline") / "copy")
    shutil.copytree(by_dvc[0].path, copy.path, symlinks=True)
    return copy, by_dvc[1]


@pytest.fixture(scope="module")
def finished(first_run):
    """The copy after an undisturbed `dvc repro`."""
    return first_run[0]


@pytest.fixture
def copy(first_run):
    """The copy, put back to the results of its first run afterwards."""
    copy = first_run[0]
    results = copy("git", "rev-parse", "HEAD").strip()
    yield copy
    copy("git", "reset", "--quiet", "--hard", results)
    copy("git", "clean", "--quiet", "--force", "-d")
    copy("dvc", "checkout", "--quiet")
