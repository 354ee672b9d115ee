"""Train and test the missing pieces of a record; not a stage of the graph.

A piece is one block of seeds of one task, range and normaliser; it is written to runs/pieces, for stages.record. When
stopped, the same command continues from the checkpoints.
"""

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.seeds import Blocks, SeedsPerBlock, seeds
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_document
from vanishing_variance.harness.frames import read_csv, read_frame
from vanishing_variance.harness.locks import exclusive_lock
from vanishing_variance.harness.machine import machine
from vanishing_variance.harness.paths import METRICS, RUNS, TIMES
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import flattened, read_yaml
from vanishing_variance.params import check
from vanishing_variance.report.strongest import RECORD
from vanishing_variance.results.accuracy import COLUMNS, rows
from vanishing_variance.results.explained import inside
from vanishing_variance.results.records.pieces import (
    Piece,
    check_parameters,
    parameters,
    plan,
    read_piece,
    write_piece,
)
from vanishing_variance.results.records.record import models, record_name

PIECES = RUNS / "pieces"
LOCK = Path("dvc.lock")
# The stages of a run, in their order.
KINDS = ("train", "evaluate")


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "record", nargs="?", default=RECORD, help=f"a folder of metrics; what it has is not computed again ({RECORD})"
    )
    record = METRICS / record_name(parser.parse_args().record)
    with exclusive_lock(str(PIECES)):  # whichever record
        make(record)


def make(record: Path) -> None:
    """Train, test and write the pieces that neither a record nor runs/pieces has. Raises InputError."""
    params = read_yaml(PATH)
    check(params)
    if params["network"] != PAPER:
        raise InputError(f"{PATH}: network is {params['network']}; a record has models of network {PAPER}")
    norm = get_param(params, "norm", Norm)
    blocks = get_param(params, "blocks", Blocks)
    size = get_param(params, "seeds_per_block", SeedsPerBlock)
    attention = get_param(params, "attention", str)
    groups = list(plan(norm, blocks, size, ranges_of(params), attention))
    lacking = [missing(group, size, record, params) for group in groups]
    for number, runs in enumerate(lacking, start=1):
        if not runs:
            continue
        print(f"pieces: {', '.join(map(str, runs))} ({number} of {len(groups)})", file=sys.stderr, flush=True)
        stages = [stage(KINDS[-1], one) for one in runs]
        code = call([sys.executable, "-m", "dvc_parallel", "repro", "--", *stages])
        if code:
            sys.exit(code)
        lock = read_yaml(LOCK)
        for one in runs:
            check_computed(one, lock, params)
            own = seeds(one.block, size)
            if not folder(one, own).exists():  # copied from another machine meanwhile
                write_piece(folder(one, own), collect(one, own, params))
    if not any(lacking):
        print(f"pieces: nothing is missing of blocks {', '.join(map(str, blocks))}", file=sys.stderr)


def call(command: Sequence[str]) -> int:
    """Return a command's exit code; 252 where it ended well after a Ctrl-C, which a terminal sends to it, too.

    The command is left to end in its own way, which may take a while: subprocess.run would kill it. A SIGTERM is passed
    on to it.
    """
    interrupted = False
    with subprocess.Popen(command) as process:
        before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            while True:
                try:
                    return process.wait() or 252 * interrupted
                except KeyboardInterrupt:
                    interrupted = True
        finally:
            signal.signal(signal.SIGTERM, before)


def missing(group: list[Run], size: int, record: Path, params: Mapping[str, Any]) -> list[Run]:
    """Return the runs of a group that neither the record nor runs/pieces has.

    Raises InputError where these have other parameters than params.yaml, or the record some seeds of a block.
    """
    lacking = []
    for one in group:
        own = seeds(one.block, size)
        if (record / PATH).exists():
            wanted = parameters(read_yaml(record / PATH), one.task, one.range)
            check_parameters(parameters(params, one.task, one.range), wanted, str(PATH))
            listed = models(read_csv(record / "pieces.csv"))
            variant = rows(listed, task=one.task, range_=one.range, norm=one.norm)
            have = set(variant["seed"]).intersection(own)
            if have and have != set(own):
                some = f"seeds {own[0]} to {own[-1]}, of which {record} has {len(have)}"
                raise InputError(f"{PATH}: blocks: {one} has {some}; choose blocks that it has not begun")
            if have:
                continue
        if folder(one, own).exists():
            read_piece(folder(one, own), params)
        else:
            lacking.append(one)
    return lacking


def check_computed(one: Run, lock: Mapping[str, Any], params: Mapping[str, Any]) -> None:
    """Raise InputError where a stage of a run has other parameters in dvc.lock: params.yaml was edited meanwhile.

    Or where it is not in dvc.lock any more.
    """
    for kind in KINDS:
        name = stage(kind, one)
        if name not in lock["stages"]:
            raise InputError(f"{LOCK}: {name} is gone, put back while pieces were computed; run it again")
        used = lock["stages"][name]["params"][str(PATH)]
        wanted = {key: get_param(params, key, Any) for key in used}
        said = f"{PATH} was edited while pieces were computed: {name}"
        check_parameters(flattened(used), flattened(wanted), said)


def collect(one: Run, own: list[int], params: Mapping[str, Any]) -> Piece:
    """Return the piece of a run that has been evaluated."""
    evaluated = one.folder("evaluated")
    accuracy = read_frame(evaluated / "accuracy.parquet").assign(**vars(one))
    mechanism = read_frame(evaluated / "mechanism.parquet").assign(**vars(one))
    described = {
        "task": one.task,
        "range": one.range,
        "norm": one.norm,
        "seeds": own,
        "parameters": parameters(params, one.task, one.range),
        **machine(),
        "minutes": minutes(one),
    }
    return Piece(described, accuracy[COLUMNS].sort_values(COLUMNS), inside(mechanism))


def minutes(one: Run) -> float | None:
    """Return how long the stages of a run took here; None where DVC took one from its cache."""
    seconds = 0.0
    for kind in KINDS:
        path = TIMES / f"{kind}-{one}.json"
        if not path.exists():
            return None
        seconds += read_document(path, dict[str, Any])["seconds"]
    return round(seconds / 60, 1)


def folder(one: Run, own: list[int]) -> Path:
    """Return where the piece of a run is."""
    return PIECES / f"{one.task}-{one.range}-{one.attention}-{one.norm}-{own[0]}-{own[-1]}"


def stage(kind: str, one: Run) -> str:
    """Return the name of a run's stage in dvc.yaml."""
    if one.range != "short":
        kind = f"{kind}-{one.range}"
    return f"{kind}@{one}"


if __name__ == "__main__":
    run(main)
