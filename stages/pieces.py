"""Train and test the missing pieces of a record, in order of worth; not a stage of the graph.

A piece is one block of seeds of one task, range and normaliser; it is written to runs/pieces, for stages.record. When
stopped, the same command continues from the checkpoints.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vanishing_variance.engine.seeds import Blocks, SeedsPerBlock, seeds
from vanishing_variance.harness.columns import CSV, PARQUET
from vanishing_variance.harness.dotted import flattened
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import read_csv, read_frame
from vanishing_variance.harness.locks import exclusive_lock
from vanishing_variance.harness.norm import Norm
from vanishing_variance.harness.paths import RUNS, Run
from vanishing_variance.harness.runs import METRICS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import check
from vanishing_variance.report.machine import machine
from vanishing_variance.report.strongest import RECORD
from vanishing_variance.report.times import read_times
from vanishing_variance.results.accuracy import gather
from vanishing_variance.results.attribution import beside_accuracy
from vanishing_variance.results.records.pieces import check_parameters, parameters, plan, record_name, recorded
from vanishing_variance.results.records.stored import read_piece, write_piece

PIECES = RUNS / "pieces"
LOCK = Path("dvc.lock")
# The stages of a run, in their order.
KINDS = ("train", "temperature", "evaluate")


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
    norm, blocks = get_param(params, "norm", Norm), get_param(params, "blocks", Blocks)
    size = get_param(params, "seeds_per_block", SeedsPerBlock)
    groups = list(plan(norm, blocks, size))
    lacking = [missing(group, size, record, params) for group in groups]
    for number, runs in enumerate(lacking, start=1):
        if runs:
            print(f"pieces: {', '.join(map(str, runs))} ({number} of {len(groups)})", file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "dvc_parallel", "repro", "--", *(stage(KINDS[-1], one) for one in runs)]
            if code := call(command):
                sys.exit(code)
            lock = read_yaml(LOCK)
            for one in runs:
                check_computed(one, lock, params)
                if not folder(one, seeds(one.block, size)).exists():  # copied from another machine meanwhile
                    collect(one, seeds(one.block, size), params)
    if not any(lacking):
        print(f"pieces: nothing is missing of blocks {', '.join(map(str, blocks))}", file=sys.stderr)


def call(command: Sequence[str]) -> int:
    """Return a command's exit code; 252 where it ended well after a Ctrl-C, which a terminal sends to it, too.

    The command is left to end in its own way, which may take a while: subprocess.run would kill it.
    """
    interrupted = False
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait() or 252 * interrupted
            except KeyboardInterrupt:
                interrupted = True


def missing(group: list[Run], size: int, record: Path, params: dict[str, object]) -> list[Run]:
    """Return the runs of a group that neither the record nor runs/pieces has.

    Raises InputError where these have other parameters than params.yaml, or the record some seeds of a block.
    """
    found = []
    for one in group:
        own, wanted = seeds(one.block, size), parameters(params, one.task, one.range)
        if (record / PATH).exists():
            check_parameters(wanted, parameters(read_yaml(record / PATH), one.task, one.range), str(PATH))
            have = recorded(read_csv(record / "pieces.csv", *CSV["pieces"]), one).intersection(own)
            if have and have != set(own):
                some = f"seeds {own[0]} to {own[-1]}, of which {record} has {len(have)}"
                raise InputError(f"{PATH}: blocks: {one} has {some}; choose blocks that it has not begun")
            if have:
                continue
        if folder(one, own).exists():
            described, *_ = read_piece(folder(one, own))
            check_parameters(described["parameters"], wanted, str(folder(one, own)))
        else:
            found.append(one)
    return found


def check_computed(one: Run, lock: Mapping[str, Any], params: Mapping[str, Any]) -> None:
    """Raise InputError where a stage of a run has other parameters in dvc.lock: params.yaml was edited meanwhile.

    Or where it is not in dvc.lock any more.
    """
    for kind in KINDS:
        if stage(kind, one) not in lock["stages"]:
            raise InputError(f"{LOCK}: {stage(kind, one)} is gone, put back while pieces were computed; run it again")
        used = lock["stages"][stage(kind, one)]["params"][str(PATH)]
        wanted = {key: get_param(params, key, Any) for key in used}
        name = f"{PATH} was edited while pieces were computed: {stage(kind, one)}"
        check_parameters(flattened(used), flattened(wanted), name)


def collect(one: Run, own: list[int], params: dict[str, object]) -> None:
    """Write the piece of a run that has been evaluated."""
    accuracy = gather([(one, read_frame(one.folder("evaluated") / "accuracy.parquet", *PARQUET["accuracy"]))], len(own))
    inside = read_frame(one.folder("evaluated") / "mechanism.parquet", *PARQUET["mechanism"])
    names = {f"{kind}-{one}" for kind in KINDS}
    times = [noted["seconds"] for noted in read_times() if noted["stage"] in names]
    described = {
        **{"task": one.task, "range": one.range, "norm": one.norm, "seeds": own},
        "parameters": parameters(params, one.task, one.range),
        **machine(),
        "minutes": round(sum(times) / 60, 1) if len(times) == len(names) else None,
    }
    mechanism = beside_accuracy(inside.assign(task=one.task, range=one.range, norm=one.norm), accuracy)
    write_piece(folder(one, own), described, accuracy, mechanism)


def folder(one: Run, own: list[int]) -> Path:
    """Return where the piece of a run is."""
    return PIECES / f"{one.task}-{one.range}-{one.norm}-{own[0]}-{own[-1]}"


def stage(kind: str, one: Run) -> str:
    """Return the name of a run's stage in dvc.yaml."""
    return f"{kind if one.range == 'short' else f'{kind}-{one.range}'}@{one}"


if __name__ == "__main__":
    run(main)
