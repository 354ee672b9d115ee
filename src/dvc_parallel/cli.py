"""The command `dvc-parallel`: `dvc repro`, with independent stages at once, and the merge of its dvc.lock in git."""

import argparse
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dvc.cli import main as dvc
from dvc.exceptions import DvcException, NotDvcRepoError
from filelock import FileLock, Timeout

from dvc_parallel import clusters
from dvc_parallel.exceptions import StageError, UsageError, one_line, shown
from dvc_parallel.graph import Pipeline, own_folder
from dvc_parallel.merge import merge_lock
from dvc_parallel.run import Driver, Pool

# As DVC exits.
FAILED, INTERRUPTED, NO_REPOSITORY = 255, 252, 253


def main() -> None:
    """Run the command; exits as DVC does, and with 2 on bad input."""
    try:
        chosen = _arguments()
        sys.exit(chosen.run(chosen))
    except UsageError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted: what has ended is in dvc.lock; the same command goes on from here", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (DvcException, StageError, OSError) as problem:
        print(f"ERROR: {one_line(str(problem))}", file=sys.stderr)
        sys.exit(NO_REPOSITORY if isinstance(problem, NotDvcRepoError) else FAILED)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dvc-parallel", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="command")
    repro = commands.add_parser(
        "repro",
        allow_abbrev=False,
        help="dvc repro, with independent stages at once",
        description="Does what `dvc repro` does, but runs stages that do not depend on each other at once, by "
        "workers of Dask: processes of this machine, those of a scheduler that runs already, or jobs of SLURM.",
    )
    repro.add_argument("targets", nargs="*", metavar="stage", help="runs, with what it depends on; all by default")
    where = repro.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, metavar="N", help="stages at once on this machine; one a core by default")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask scheduler, for example tcp://10.0.0.1:8786")
    where.add_argument("--slurm", type=int, metavar="JOBS", help="run on SLURM, in this many jobs")
    job = "of a job; may be repeated: cores=8, memory=16GB, walltime=04:00:00, queue=long, account=me, gpus=1"
    repro.add_argument("--slurm-option", action="append", default=[], type=_option, metavar="KEY=VALUE", help=job)
    repro.add_argument("-f", "--force", action="store_true", help="also run what has not changed")
    repro.add_argument("--downstream", action="store_true", help="run only these and what depends on them")
    going = "after a failure, run all that does not depend on it"
    repro.add_argument("-k", "--keep-going", action="store_true", help=going)
    repro.add_argument("--dry", action="store_true", help="only say what would run")
    repro.set_defaults(run=_repro)
    merge = commands.add_parser(
        "merge-lock",
        allow_abbrev=False,
        help="merge a dvc.lock that git could not",
        description="Merges a dvc.lock in which git has a conflict, stage by stage. Stages that both sides changed are "
        "dropped: they run again.",
    )
    merge.add_argument("lock", type=Path, metavar="dvc.lock")
    merge.set_defaults(run=_merge_lock)
    return parser.parse_args()


def _repro(chosen: argparse.Namespace) -> int:
    for name in ("workers", "slurm"):
        number = getattr(chosen, name)
        if number is not None and number < 1:
            raise UsageError(f"--{name}: {number} must be a whole number from 1 on")
    if chosen.slurm is None and chosen.slurm_option:
        raise UsageError("--slurm-option is for --slurm alone")
    job: dict[str, Any] = {}
    if chosen.slurm is not None:
        job = clusters.slurm_job(dict(chosen.slurm_option))
        script = clusters.slurm_script(job)
    if chosen.dry:
        if job:
            print(f"Each job would be:\n\n{script}")
        switches = {"--force": chosen.force, "--downstream": chosen.downstream, "--keep-going": chosen.keep_going}
        on = [name for name, is_on in switches.items() if is_on]
        return int(dvc(["repro", "--dry", *on, "--", *chosen.targets]))
    if job and shutil.which("sbatch") is None:
        raise UsageError("--slurm: no sbatch on PATH: this machine submits no jobs to SLURM")
    if chosen.scheduler is not None:
        with clusters.existing(chosen.scheduler):  # before anything is touched
            pass
    began = time.monotonic()
    with _exclusive_lock(), _interrupting() as interrupted, ExitStack() as stack:

        def start() -> Pool:
            if chosen.scheduler is not None:
                pool = stack.enter_context(clusters.existing(chosen.scheduler))
            elif job:
                pool = stack.enter_context(clusters.slurm(chosen.slurm, job))
            else:
                pool = stack.enter_context(clusters.local(chosen.workers))
            print(f"Dask's dashboard: {pool.client.dashboard_link}", flush=True)
            return pool

        driver = Driver(Pipeline(Path.cwd(), interrupted), chosen.targets, chosen.downstream, start)
        driver.run(chosen.force, chosen.keep_going)
    counts = Counter(driver.fates.values())
    said = ", ".join(f"{count} {fate}" for fate, count in counts.items())
    print(f"{said or 'nothing to do'}: {time.monotonic() - began:.0f} s")
    return FAILED if counts["failed"] else 0


def _merge_lock(chosen: argparse.Namespace) -> int:
    print(merge_lock(chosen.lock))
    return 0


def _option(text: str) -> tuple[str, str]:
    """Parse KEY=VALUE, as text: what YAML makes of a walltime is a number."""
    key, _, value = text.partition("=")
    if not (key and value):
        raise UsageError(f"--slurm-option: {shown(text)} must be KEY=VALUE")
    return key, value


@contextmanager
def _interrupting() -> Iterator[threading.Event]:
    """Give an event that Ctrl-C and SIGTERM set, to end at a moment at which nothing is left half done."""
    interrupted = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: interrupted.set()) for number in numbers}
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exclusive_lock() -> AbstractContextManager[Any]:
    """Return a lock, when no other process of this tool runs the repository; it ends with this process, too."""
    path = own_folder() / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, fallback_to_soft=False)
    try:
        return lock.acquire(timeout=1)
    except Timeout:
        print("another dvc-parallel runs this repository; waiting for it to end", file=sys.stderr, flush=True)
        return lock.acquire()
