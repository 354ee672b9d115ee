"""DVC's graph of stages: their order, what has changed, and the records in dvc.lock, as `dvc repro` has them.

Made of the calls that DVC's own Stage.reproduce and Stage.run make (3.67), in their order; only the commands are left
out, which run elsewhere. As in DVC, its lock is held while a call is made, and not while a command runs; the files of
a stage are locked until it is recorded.
"""

import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from functools import wraps
from pathlib import Path
from typing import Concatenate, Literal, ParamSpec, TypeVar

from dvc.dependency.db import AbstractDependency
from dvc.dependency.repo import RepoDependency
from dvc.exceptions import DvcException
from dvc.lock import LockError
from dvc.repo import Repo
from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro
from dvc.rwlock import rwlock
from dvc.stage import PipelineStage, Stage
from dvc.stage.cache import RunCacheNotFoundError
from dvc.stage.decorators import rwlocked
from dvc.stage.loader import StageLoader

from dvc_parallel.command import Command
from dvc_parallel.exceptions import BusyError, StageError, UsageError, one_line, shown

P = ParamSpec("P")
T = TypeVar("T")
# "frozen or data": DVC has done all that there is to do; "to run": the stage's command has to run.
Begun = Literal["unchanged", "restored", "frozen or data", "to run"]
SECONDS_BETWEEN_TRIES = 1.0
# Of whole numbers from 1 on: DVC fills in parameters, and computes nothing.
QUOTIENT = re.compile(r"([1-9][0-9]*)/([1-9][0-9]*)")
# Dependencies that are no files here.
UNLOCKED = (AbstractDependency, RepoDependency)


def _locked(method: Callable[Concatenate["Pipeline", P], T]) -> Callable[Concatenate["Pipeline", P], T]:
    """Let a method run while no other DVC works here: one that does is waited for. DVC's errors become StageError."""

    @wraps(method)
    def call(pipeline: "Pipeline", /, *arguments: P.args, **options: P.kwargs) -> T:
        said = False
        while True:
            try:
                with pipeline.repo.lock:
                    return method(pipeline, *arguments, **options)
            except LockError as problem:
                if not said:
                    print(f"waiting for another DVC: {one_line(str(problem))}", file=sys.stderr, flush=True)
                said = True
            except (DvcException, OSError) as problem:
                raise StageError(one_line(str(problem))) from problem
            if pipeline.interrupted.is_set():
                raise KeyboardInterrupt
            time.sleep(SECONDS_BETWEEN_TRIES)

    return call


class Pipeline:
    """The stages of a DVC repository. Raises DvcException as `dvc repro` does; methods raise StageError.

    `interrupted` ends the waiting for another DVC, which raises KeyboardInterrupt then.
    """

    def __init__(self, root: Path, interrupted: threading.Event) -> None:
        self.repo, self.interrupted = Repo(os.fspath(root)), interrupted
        self._stages: dict[str, Stage] = {}
        self._held: list[str] = []  # the stages whose files are locked
        self._files = ExitStack()

    @_locked
    def plan(self, targets: Sequence[str], downstream: bool) -> dict[str, list[str]]:
        """Return the stages of `dvc repro`, in its order, and what each waits for; frozen ones wait for nothing."""
        self.repo._reset()
        graph = get_active_graph(self.repo.index.graph)
        chosen = collect_stages(self.repo, targets or ["dvc.yaml"])
        self._stages = {stage.addressing: stage for stage in plan_repro(graph, chosen, downstream=downstream)}
        inputs = {}
        for name, stage in self._stages.items():
            before = [other.addressing for other in graph.successors(stage)]
            inputs[name] = [other for other in before if other in self._stages]
        return inputs

    def command(self, name: str) -> Command:
        """Return a stage's command as DVC would run it, and the needs that its `meta` in dvc.yaml names.

        It has no lines where DVC does all itself: a frozen stage, an import, data. Raises UsageError for a bad `meta`.
        """
        stage = self._stages[name]
        lines = [] if stage.frozen or not stage.cmd else stage.cmd
        processes, gpu = _needs(stage)
        environment = {
            "DVC_STAGE": name,
            "DVC_ROOT": os.environ.get("DVC_ROOT", self.repo.root_dir),
            "SHELL": os.environ.get("SHELL", ""),  # not the worker's
        }
        lines = tuple(lines if isinstance(lines, list) else lines.splitlines())
        return Command(name, lines, os.path.abspath(stage.wdir), environment, processes, gpu)

    @_locked
    def begin(self, name: str, force: bool) -> Begun:
        """See whether a stage has changed, and whether DVC has its outputs; else clear the way for its command.

        Unless it is unchanged, its files are locked until it is recorded or released. Raises BusyError where another
        DVC has locked them.
        """
        stage = self._stages[name]
        _read_record(stage)
        try:
            begun: Begun = _begin(stage, force)
        except LockError as problem:
            raise BusyError(one_line(str(problem))) from None
        if begun != "unchanged":
            self._hold([*self._held, name])
        return begun

    @_locked
    def finish(self, name: str) -> None:
        """Put the outputs of a command that has run into DVC's cache, and keep what its record says.

        Fails when an output is missing, or when a dependency changed while the command ran: DVC would record the new
        dependency beside outputs of the old one.
        """
        self.repo._reset()  # what DVC remembers of the files, as it does itself when a command has run
        _save_if_same(self._stages[name])

    @_locked
    def record(self, name: str) -> None:
        """Write a stage's record into its lock file, which is read anew: no other stage's record is lost."""
        self._stages[name].dump(update_pipeline=False)
        self._hold(other for other in self._held if other != name)

    @_locked
    def release(self, name: str) -> None:
        """Unlock the files of a stage that has failed."""
        self._hold(other for other in self._held if other != name)

    def close(self) -> None:
        """Unlock all files."""
        with suppress(AssertionError):  # DVC's, where somebody has deleted its file of locks
            self._files.close()

    def _hold(self, names: Iterable[str]) -> None:
        """Lock the files of these stages alone; DVC's lock, held by the caller, lets no other DVC in meanwhile.

        A killed process blocks nobody: DVC drops locks of processes that have ended.
        """
        self._held = list(names)
        stages = [self._stages[name] for name in self._held]
        read = [dep.fs_path for stage in stages for dep in stage.deps if not isinstance(dep, UNLOCKED)]
        write = [out.fs_path for stage in stages for out in stage.outs]
        command = " ".join(sys.argv)  # as DVC names itself, so that its own calls here do not wait for this
        hardlink = self.repo.config["core"].get("hardlink_lock", False)
        self.close()
        self._files.enter_context(rwlock(self.repo.tmp_dir, self.repo.fs, command, read, write, hardlink))


def own_folder() -> Path:
    """Return the tool's folder in the DVC repository around this process, which git and DVC ignore."""
    return Path(Repo.find_root(), Repo.DVC_DIR, "tmp", "dvc-parallel")


def _needs(stage: Stage) -> tuple[int, bool]:
    """Return, of its `meta` in dvc.yaml, how many processes a stage can make use of, and whether it wants a GPU."""
    meta = stage.meta if isinstance(stage.meta, dict) else {}
    processes, gpu = meta.get("processes", 1), meta.get("gpu", False)
    where = f"dvc.yaml: {stage.addressing}: meta"
    if quotient := QUOTIENT.fullmatch(str(processes)):
        processes = math.ceil(int(quotient[1]) / int(quotient[2]))
    if type(processes) is not int or processes < 1:
        raise UsageError(f"{where}.processes: {shown(processes)} must be a whole number from 1 on, or two such as 8/4")
    if type(gpu) is not bool:
        raise UsageError(f"{where}.gpu: {shown(gpu)} must be true or false")
    return processes, gpu


def _read_record(stage: Stage) -> None:
    """Read a stage's record anew: another DVC may have run the stage since the graph was read."""
    if not isinstance(stage, PipelineStage):
        return
    record = stage.dvcfile._lockfile.load().get("stages", {}).get(stage.name)
    if record:
        stage.cmd_changed = record.get("cmd") != stage.cmd
        StageLoader.fill_from_lock(stage, record)


# These locks keep another DVC from reading or writing the files meanwhile.
@rwlocked(read=["deps"], write=["outs"])  # type: ignore[untyped-decorator]
def _begin(stage: Stage, force: bool) -> Begun:
    if stage.frozen or not stage.cmd:
        if stage.frozen and not stage.is_import:
            print(f"WARNING: {stage} is frozen. Its dependencies are not going to be reproduced.", file=sys.stderr)
        return "frozen or data" if stage.reproduce(force=force) else "unchanged"
    if not force and not stage.changed():
        return "unchanged"
    stage.remove_outs(ignore_remove=False, force=False)
    if not force:
        with suppress(RunCacheNotFoundError):
            stage.repo.stage_cache.restore(stage)
            _save(stage)
            return "restored"
    stage.save_deps()
    return "to run"


@rwlocked(read=["deps"], write=["outs"])  # type: ignore[untyped-decorator]
def _save_if_same(stage: Stage) -> None:
    changed = [str(dep) for dep in stage.deps if dep.status()]
    if changed:
        raise StageError(f"'{changed[0]}' changed while '{stage.addressing}' ran, so nothing is recorded")
    _save(stage)


def _save(stage: Stage) -> None:
    """Save outputs and record as Stage.run ends."""
    uncached = any(not out.use_cache for out in stage.outs if not (out.is_metric or out.is_plot))
    stage.save(run_cache=not uncached)
    stage.commit()
