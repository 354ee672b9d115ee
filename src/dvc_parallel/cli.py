"""The command `dvc-parallel`: DVC, with the stages that do not wait for each other run at once."""

import argparse
import queue
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from dvc.cli import main as dvc
from dvc.exceptions import DvcException, NotDvcRepoError

from dvc_parallel.cores import cores
from dvc_parallel.display import Display
from dvc_parallel.driver import Driver, summary
from dvc_parallel.errors import InputError, one_line, shown
from dvc_parallel.files import exclusive_lock
from dvc_parallel.pipeline import Pipeline, StageError
from dvc_parallel.pool import Pool

# As DVC exits.
FAILED, INTERRUPTED, NO_REPOSITORY = 255, 252, 253


class _Arguments(argparse.ArgumentParser):
    """Refuses in one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        print(f"error: {one_line(f'{self.prog}: {message}', 400)}", file=sys.stderr)
        sys.exit(2)


def main() -> None:
    """Run the command; exits as `dvc repro` does, and with 2 on bad input."""
    parser = _Arguments(prog="dvc-parallel", description=__doc__, allow_abbrev=False)
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
    repro.add_argument(
        "--slurm-option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of a job; may be repeated: cores=8, memory=16GB, gpus=1",
    )
    repro.add_argument("-f", "--force", action="store_true", help="also run what has not changed")
    repro.add_argument("--downstream", action="store_true", help="run only these and what depends on them")
    repro.add_argument(
        "-k", "--keep-going", action="store_true", help="after a failure, run all that does not depend on it"
    )
    repro.add_argument("--dry", action="store_true", help="only say what would run")
    try:
        sys.exit(_repro(parser.parse_args()))
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (DvcException, StageError) as problem:
        print(f"ERROR: {one_line(str(problem))}", file=sys.stderr)
        sys.exit(NO_REPOSITORY if isinstance(problem, NotDvcRepoError) else FAILED)


def _repro(chosen: Any) -> int:
    for name in ("workers", "slurm"):
        number = getattr(chosen, name)
        if number is not None and number < 1:
            raise InputError(f"--{name}: {number} must be a whole number from 1 on")
    if chosen.slurm is None and chosen.slurm_option:
        raise InputError(f"--slurm-option: {shown(chosen.slurm_option[0])} is for --slurm alone")
    job = _dask("slurm").arguments(_options(chosen.slurm_option)) if chosen.slurm else {}
    script = _dask("slurm").script(job) if job else None
    if chosen.dry:
        switches = {"--force": chosen.force, "--downstream": chosen.downstream, "--keep-going": chosen.keep_going}
        on = [name for name, is_on in switches.items() if is_on]
        if script is not None:
            print(f"Each job would be:\n\n{script}")
        return int(dvc(["repro", "--dry", *on, "--", *chosen.targets]))
    if find_spec("distributed") is None:  # importing it takes a while, and there may be nothing to run
        _dask("clusters")
    if chosen.scheduler is not None:
        with _dask("clusters").existing(chosen.scheduler):
            pass
    if job:
        _dask("slurm").check()
    display, began = Display(), time.monotonic()
    with exclusive_lock(), ExitStack() as stack:
        messages, interrupted = stack.enter_context(_interrupting())

        def start() -> Pool:
            cluster, known = _cluster(chosen, job)
            client = stack.enter_context(cluster)
            display.say(f"Dask's dashboard: {client.dashboard_link}")
            return Pool(client, messages, **known)

        try:
            pipeline = Pipeline(Path.cwd(), interrupted)
            driver = Driver(pipeline, chosen.targets, chosen.downstream, start, display, messages)
            driver.run(chosen.force, chosen.keep_going)
        except KeyboardInterrupt:
            display.warn("interrupted: what has ended is in DVC's cache; the same command goes on from here")
            return INTERRUPTED
        for line in summary(driver.outcome, time.monotonic() - began):
            display.say(line)
    return FAILED if driver.outcome.failed else 0


def _cluster(chosen: Any, job: Mapping[str, Any]) -> tuple[AbstractContextManager[Any], dict[str, int]]:
    """Return the machines that are chosen, which start when entered, and what `Pool` is to know of their cores."""
    clusters = _dask("clusters")
    if chosen.scheduler is not None:
        return clusters.existing(chosen.scheduler), {}
    if job:
        return _dask("slurm").running(chosen.slurm, job), {"each": int(job["job_cpu"])}
    return clusters.local(chosen.workers or max(cores(), len(clusters.gpus()))), {"machine": cores()}


def _dask(module: str) -> Any:
    """Return `clusters` or `slurm`, which import Dask. Raises InputError where it is not installed."""
    try:
        return import_module(f"dvc_parallel.{module}")
    except ImportError:
        raise InputError("dvc-parallel needs Dask: pip install distributed dask-jobqueue bokeh") from None


def _options(texts: Sequence[str]) -> dict[str, str | list[str]]:
    """Parse KEY=VALUE, as text: what YAML makes of a walltime is a number. A key that comes again makes a list."""
    options: dict[str, list[str]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key.isidentifier() and equals):
            raise InputError(f"--slurm-option: {shown(text)} must be KEY=VALUE")
        options.setdefault(key, []).append(value)
    return {key: values if len(values) > 1 else values[0] for key, values in options.items()}


@contextmanager
def _interrupting() -> Iterator[tuple["queue.SimpleQueue[tuple[Any, ...]]", Callable[[], bool]]]:
    """Make a message of Ctrl-C and SIGTERM, for a moment at which nothing is left half done.

    Gives the queue of messages, and what tells whether there was such a one.
    """
    # a handler that comes while the queue is read waits for ever at a queue.Queue
    messages: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    came: list[int] = []

    def tell(number: int, frame: object) -> None:
        came.append(number)
        messages.put(("interrupt",))

    before = {number: signal.signal(number, tell) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield messages, lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
