"""Compare the variants over seeds by paired tests: the raw results, Tables 1 to 6, ours beside the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.analysis.comparison import agreement, cells, markdown
from vanishing_variance.analysis.metrics import overview, summary
from vanishing_variance.analysis.paired_tests import Answers, paired_tests, select
from vanishing_variance.analysis.results import gather, polynomials
from vanishing_variance.analysis.tables import tables
from vanishing_variance.columns import CSV, PARQUET
from vanishing_variance.command import Arguments, run
from vanishing_variance.io.answers import read_answers
from vanishing_variance.io.documents import Fits, read_document
from vanishing_variance.io.files import write_json, write_text
from vanishing_variance.io.frames import read_csv, read_frame, write_csv
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.norm import Norm
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Blocks, Index, SeedsPerBlock
from vanishing_variance.paths import Run
from vanishing_variance.scale import steps
from vanishing_variance.study import METRICS, RANGES, REFERENCE, TASKS, expected


@dataclass(frozen=True)
class Compared:
    """The parameters of a comparison: treatment, longest training length by range, steps by task and range.

    `root` of the random streams.
    """

    norm: str
    root: int
    longest: Mapping[str, int]
    steps: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, params: Mapping[str, Any], ranges: Sequence[str]) -> "Compared":
        """Return what params.yaml says of these ranges. Raises InputError."""
        trained: dict[str, Range] = {name: take(params, f"ranges.{name}", Range) for name in ranges}
        longest = {name: of.longest for name, of in trained.items()}
        made = {(task, name): steps(params, task, name) for task in TASKS for name in ranges}
        return cls(take(params, "norm", Norm), take(params, "seed", Index), longest, made)


def compare_results(folder: Path, accuracy: pd.DataFrame, answers: Answers | None, what: Compared) -> None:
    """Write the paired tests, tables and metrics of these accuracies; without `answers`, no shares of uncertainty."""
    paper, ranges = read_csv(REFERENCE, *CSV["reference"]), list(what.longest)
    tests = paired_tests(accuracy, answers, what.norm, what.root, ranges)
    beside = cells(tests, paper)
    write_csv(folder / "accuracy.csv", accuracy)
    write_csv(folder / "tests.csv", tests)
    write_csv(folder / "paper.csv", beside)
    write_json(folder / "paper.json", agreement(beside))
    write_text(folder / "paper.md", markdown(agreement(beside)))
    write_json(folder / "summary.json", overview(accuracy, what.norm, what.longest, what.root))
    for task in TASKS:
        by_range = {name: summary(select(tests, task, name, what.norm, "none")) for name in ranges}
        write_json(folder / f"{task}.json", by_range)
    for number, table in tables(tests, what.norm, paper, what.steps).items():
        path = folder / "tables" / f"table{number}"
        write_text(path.with_suffix(".md"), table.markdown())
        write_text(path.with_suffix(".tex"), table.latex())
        write_csv(path.with_suffix(".csv"), table.numbers)


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--range", choices=RANGES, action="append", help="by hand, where no other has been trained")
    ranges = list(dict.fromkeys(parser.parse_args().range or RANGES))
    params = read_yaml(PATH)
    blocks, seeds = take(params, "blocks", Blocks), take(params, "seeds_per_block", SeedsPerBlock)
    what = Compared.of(params, ranges)
    runs = expected(what.norm, blocks, ranges)
    frames = ((one, read_frame(one.path("accuracy", ".parquet"), *PARQUET["accuracy"])) for one in runs)
    accuracy = gather(frames, seeds)
    lengths = sorted(accuracy["length"].unique().tolist())
    stored = [one.path("answers", ".safetensors") for one in runs]
    right = dict(zip(runs, read_answers(stored, lengths, seeds), strict=True))
    fits = {one: read_document(one.path("temperature", ".json"), Fits) for one in runs}

    def answers(task: str, range_: str, one: str) -> dict[str, np.ndarray]:
        parts = [right[Run(task, range_, one, block)] for block in blocks]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    compare_results(METRICS, accuracy, answers, what)
    halves = ({**vars(one), "half": half, **fit} for one, of in fits.items() for half, fit in of.items())
    write_csv(METRICS / "temperatures.csv", polynomials(halves))


if __name__ == "__main__":
    run(main)
