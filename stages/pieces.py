"""Train and test what a record still lacks, in order of worth, until all is there or it is stopped; not a stage.

Every piece, one block of seeds of one task, range and normaliser, is left in runs/pieces, for stages.record. Stopped,
the same command goes on from the checkpoints.
"""

import subprocess
import sys
from pathlib import Path

from vanishing_variance.analysis.attribution import beside_accuracy
from vanishing_variance.analysis.pieces import called, parameters, plan
from vanishing_variance.analysis.results import gather
from vanishing_variance.columns import PARQUET
from vanishing_variance.command import Arguments, run
from vanishing_variance.io.frames import read_csv, read_frame
from vanishing_variance.io.machine import machine
from vanishing_variance.io.pieces import write_piece
from vanishing_variance.io.times import read_times
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.norm import Norm
from vanishing_variance.params.seeds import Blocks, SeedsPerBlock, seeds
from vanishing_variance.params.whole import check
from vanishing_variance.paths import RUNS, Run
from vanishing_variance.report.strongest import RECORD
from vanishing_variance.study import METRICS

PIECES = RUNS / "pieces"
MODELS = ("task", "range", "norm", "first_seed", "last_seed")


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("record", nargs="?", default=RECORD, help="what metrics/<record> has is not computed again")
    path = METRICS / called(parser.parse_args().record) / "pieces.csv"
    params = read_yaml(PATH)
    check(params)
    norm, blocks = take(params, "norm", Norm), take(params, "blocks", Blocks)
    size = take(params, "seeds_per_block", SeedsPerBlock)
    have = set(read_csv(path, *MODELS)[list(MODELS)].itertuples(index=False, name=None)) if path.exists() else set()
    groups = list(plan(norm, blocks, size))
    for number, group in enumerate(groups, start=1):
        own = {one: seeds(one.block, size) for one in group}
        lacking = {
            one: of
            for one, of in own.items()
            if (one.task, one.range, one.norm, of[0], of[-1]) not in have and not folder(one, of).exists()
        }
        if lacking:
            print(f"pieces: {', '.join(map(str, lacking))} ({number} of {len(groups)})", file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "dvc_parallel", "repro", "--", *map(stage, lacking)]
            code = subprocess.run(command, check=False).returncode
            if code:
                sys.exit(code)
            for one, of in lacking.items():
                collect(one, of, params)


def collect(one: Run, own: list[int], params: dict[str, object]) -> None:
    """Write the piece of a run that has been evaluated."""
    accuracy = gather([(one, read_frame(one.path("accuracy", ".parquet"), *PARQUET["accuracy"]))], len(own))
    inside = read_frame(one.path("mechanism", ".parquet"), *PARQUET["mechanism"])
    names = {f"{kind}-{one}" for kind in ("train", "temperature", "evaluate")}
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


def stage(one: Run) -> str:
    """Return the last stage of a run, by its name in dvc.yaml."""
    return f"{'evaluate' if one.range == 'short' else f'evaluate-{one.range}'}@{one}"


if __name__ == "__main__":
    run(main)
