"""DVC's graph of a checkout, what of it has changed, and the records in dvc.lock, as `dvc repro` reads and writes them.

Made of the calls that DVC's own Stage.reproduce and Stage.run make (3.67), in their order; only the commands are left
out, which run elsewhere. DVC's lock is held while a call is made, and not while a command runs: as in DVC.
"""

import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from dvc.exceptions import DvcException
from dvc.lock import LockError
from dvc.repo import Repo
from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro
from dvc.stage import PipelineStage, Stage
from dvc.stage.cache import RunCacheNotFoundError
from dvc.stage.decorators import rwlocked
from dvc.stage.serialize import to_lockfile

from dvc_parallel.command import Command
from dvc_parallel.errors import one_line, shown
from dvc_parallel.lockfile import LockFile

T = TypeVar("T")
# The result of beginning a stage: nothing had changed; DVC had its outputs; its command is to be run.
Begun = Literal["unchanged", "done", "to run"]
SECONDS_BETWEEN_TRIES = 1.0


class StageError(Exception):
    """A stage that DVC cannot begin or record; the message says why."""


class Pipeline:
    """The stages of a DVC repository. Raises DvcException as `dvc repro` does."""

    def __init__(self, root: Path, interrupted: Callable[[], bool] = lambda: False) -> None:
        """`interrupted` ends the waiting for another DVC: it raises KeyboardInterrupt then."""
        self._repo, self._interrupted = Repo(os.fspath(root)), interrupted
        self._stages: dict[str, Stage] = {}
        self._locks: dict[str, LockFile] = {}

    def plan(self, targets: Sequence[str], downstream: bool) -> dict[str, list[str]]:
        """Return the stages of `dvc repro`, in its order, and what each waits for; frozen ones wait for nothing."""
        return self._locked("dvc.yaml", lambda: self._plan(targets, downstream))

    def _plan(self, targets: Sequence[str], downstream: bool) -> dict[str, list[str]]:
        self._repo._reset()
        graph = get_active_graph(self._repo.index.graph)
        chosen = collect_stages(self._repo, targets or ["dvc.yaml"])
        stages = plan_repro(graph, chosen, downstream=downstream)
        self._stages = {stage.addressing: stage for stage in stages}
        among = set(stages)
        return {
            stage.addressing: [before.addressing for before in graph.successors(stage) if before in among]
            for stage in stages
        }

    def command(self, name: str) -> Command:
        """Return a stage's command as DVC would run it, and what the stage's `meta` in dvc.yaml says that it needs.

        It has no lines where DVC does all itself: a frozen stage, an import, data.
        """
        stage = self._stages[name]
        own = [] if stage.frozen or not stage.cmd else stage.cmd
        processes, gpu = 1, False
        with suppress(StageError):  # said when the stage begins: it may be a parameter, of which `check` knows more
            processes, gpu = _needs(stage)
        return Command(
            stage=name,
            lines=tuple(own if isinstance(own, list) else own.splitlines()),
            folder=os.path.abspath(stage.wdir),
            environment={
                "DVC_STAGE": name,
                "DVC_ROOT": os.environ.get("DVC_ROOT", self._repo.root_dir),
                "SHELL": os.environ.get("SHELL", ""),  # not the worker's
            },
            processes=processes,
            gpu=gpu,
        )

    def begin(self, name: str, force: bool) -> Begun:
        """See whether a stage has changed, and whether DVC has its outputs; else clear the way for its command.

        Raises StageError.
        """
        return self._locked(name, lambda: self._begin(self._stages[name], force))

    def _begin(self, stage: Stage, force: bool) -> Begun:
        if stage.frozen or not stage.cmd:
            if stage.frozen and not stage.is_import:
                print(f"WARNING: {stage} is frozen. Its dependencies are not going to be reproduced.", file=sys.stderr)
            return "done" if stage.reproduce(force=force) else "unchanged"
        if not force and not stage.changed():
            return "unchanged"
        _needs(stage)
        stage.remove_outs(ignore_remove=False, force=False)
        if not force:
            try:
                self._repo.stage_cache.restore(stage)
            except RunCacheNotFoundError:
                pass
            else:
                _save(stage)
                return "done"
        stage.save_deps()
        return "to run"

    def unchanged(self, name: str) -> bool:
        """Return whether there is nothing to do for a stage of a command. Raises StageError."""
        stage = self._stages[name]
        return bool(stage.cmd) and not stage.frozen and self._locked(name, lambda: not stage.changed())

    def finish(self, name: str) -> None:
        """Put the outputs of a command that has run into DVC's cache, and keep what its record says.

        Raises StageError when an output is missing, and when something that it reads is not what it was when it began:
        DVC would record that the outputs were made of what is there now.
        """
        self._locked(name, lambda: self._finish(self._stages[name]))

    def _finish(self, stage: Stage) -> None:
        self._repo._reset()  # what DVC remembers of the files, as it does itself when a command has run
        _save_if_same(stage)

    def record(self, names: Collection[str]) -> None:
        """Write the records of some stages, each lock file once: whole, or not at all."""
        files: dict[str, list[PipelineStage]] = {}
        for stage in (self._stages[name] for name in names):
            if isinstance(stage, PipelineStage):
                files.setdefault(f"{os.path.splitext(stage.dvcfile.path)[0]}.lock", []).append(stage)
            else:
                self._locked(stage.addressing, partial(stage.dump, update_pipeline=False))
        for path, stages in files.items():
            self._locked("dvc.lock", partial(self._write, path, stages))

    def _write(self, path: str, stages: Sequence[PipelineStage]) -> None:
        """DVC's Lockfile.dump_stages."""
        records: dict[str, Any] = {}
        for stage in stages:
            records |= to_lockfile(stage)
        if self._locks.setdefault(path, LockFile(Path(path))).update(records):
            self._repo.scm_context.track_file(os.path.relpath(path))

    def tracked(self) -> AbstractContextManager[Any]:
        """Return a context in which git is told of what changed, where DVC is set to tell it."""
        context: AbstractContextManager[Any] = self._repo.scm_context()
        return context

    def _locked(self, what: str, call: Callable[[], T]) -> T:
        """Return the result of a call, made while no other DVC works here: one that does is waited for."""
        said = False
        while True:
            try:
                with self._repo.lock:
                    return call()
            except LockError as problem:
                if not said:
                    print(f"{what}: waiting for another DVC: {one_line(str(problem))}", file=sys.stderr, flush=True)
                said = True
            except (DvcException, OSError) as problem:
                raise StageError(one_line(str(problem))) from problem
            if self._interrupted():
                raise KeyboardInterrupt
            time.sleep(SECONDS_BETWEEN_TRIES)


def _needs(stage: Stage) -> tuple[int, bool]:
    """Return, of its `meta` in dvc.yaml, how many processes a stage can make use of, and whether it wants a GPU.

    Raises StageError where that is not allowed.
    """
    meta = stage.meta if isinstance(stage.meta, dict) else {}
    processes, gpu = meta.get("processes", 1), meta.get("gpu", False)
    where = f"{stage.addressing}: meta"
    if type(processes) is not int or processes < 1:
        raise StageError(f"{where}.processes in dvc.yaml: {shown(processes)} must be a whole number from 1 on")
    if type(gpu) is not bool:
        raise StageError(f"{where}.gpu in dvc.yaml: {shown(gpu)} must be true or false")
    return processes, gpu


# DVC that runs the same stage holds its outputs meanwhile: half of one is never looked at.
@rwlocked(read=["deps"], write=["outs"])  # type: ignore[untyped-decorator]
def _save_if_same(stage: Stage) -> None:
    changed = [str(dep) for dep in stage.deps if dep.status()]
    if changed:
        raise StageError(f"'{changed[0]}' changed while '{stage.addressing}' ran, so nothing is recorded")
    _save(stage)


def _save(stage: Stage) -> None:
    """As Stage.run ends."""
    uncached = any(not out.use_cache for out in stage.outs if not (out.is_metric or out.is_plot))
    stage.save(run_cache=not uncached)
    stage.commit()
