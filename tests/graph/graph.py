"""The graphs of dvc.yaml, resolved by DVC, and the commands of their stages, run without it."""

import json
import os
import shlex
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import networkx
from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo


@dataclass(frozen=True)
class Stage:
    """A stage: its command's words, the paths and parameters (by file) that it declares, its outputs, and what
    its `meta` says that it needs."""

    words: tuple[str, ...]
    deps: frozenset[str]
    params: dict[str, frozenset[str]]
    outs: frozenset[str]
    needs: frozenset[str]

    def declares(self, path):
        """Return whether a file is one of its dependencies, or lies in one."""
        return any(f"{path}/".startswith(f"{dep}/") for dep in self.deps)


def resolve(folder):
    """Return the stages of all graphs in a folder by address, each after those that it depends on."""
    repo = Repo(os.fspath(folder))

    def relative(of):
        return os.path.relpath(of.fs_path, repo.root_dir)

    def address(stage):
        file = os.path.relpath(stage.dvcfile.path, repo.root_dir)
        return stage.name if file == "dvc.yaml" else f"{file}:{stage.name}"

    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what DVC calls
        graph = repo.index.graph
    for stage in networkx.dfs_postorder_nodes(graph):
        params = {}
        for dep in stage.deps:
            if isinstance(dep, ParamsDependency):
                params.setdefault(relative(dep), set()).update(dep.params)
        found[address(stage)] = Stage(
            words=tuple(shlex.split(stage.cmd)),
            deps=frozenset(relative(dep) for dep in stage.deps if not isinstance(dep, ParamsDependency)),
            params={file: frozenset(keys) for file, keys in params.items()},
            outs=frozenset(relative(out) for out in stage.outs),
            needs=frozenset(stage.meta or ()),
        )
    repo.close()
    return found


def readers(graph, file):
    """Return the addresses of the stages that declare a file."""
    return {name for name, stage in graph.items() if stage.declares(file)}


@dataclass(frozen=True)
class Ran:
    """A command that has run: its exit code, what it printed, the files that it opened, the parameters that it took."""

    code: int
    said: str
    opened: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()


class Runner:
    """Runs stage scripts in forked children of one process, on one core, where small stages start no processes."""

    def __init__(self, scratch):
        self._result = scratch / "result.json"

        def on_one_core():
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("stage_runner.py"))],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=on_one_core,  # noqa: PLW1509
        )

    def __call__(self, folder, *words):
        """Run `python -m` with these words in a folder."""
        self._result.unlink(missing_ok=True)
        request = {"folder": str(folder), "words": words, "result": str(self._result)}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        said = Path(f"{self._result}.said").read_text()
        if not self._result.exists():
            return Ran(code, said)
        found = json.loads(self._result.read_text())
        return Ran(found["code"], said, frozenset(found["opened"]), frozenset(found["taken"]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """End the process."""
        self._process.communicate()
