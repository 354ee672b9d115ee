"""Compare the variants over seeds: paired tests, Tables 1 to 6, what explains accuracy, what interventions recover."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.engine.seeds import Blocks, Index, SeedsPerBlock
from vanishing_variance.harness.columns import CSV, PARQUET
from vanishing_variance.harness.files import write_json, write_text
from vanishing_variance.harness.frames import read_csv, read_frame, write_csv
from vanishing_variance.harness.norm import Norm
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.runs import INTERVENTIONS, METRICS, RANGES, REFERENCE, TABLES, TASKS, expected
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.interventions.readings import read_out
from vanishing_variance.results import attribution_table, shares_table
from vanishing_variance.results.accuracy import gather
from vanishing_variance.results.answers import read_answers
from vanishing_variance.results.attribution import beside_accuracy, explained
from vanishing_variance.results.comparison import agreement, cells, markdown
from vanishing_variance.results.metrics import overview, summary
from vanishing_variance.results.paired_tests import Answers, paired_tests, select
from vanishing_variance.results.shares import gain, shares
from vanishing_variance.results.tables import tables


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
        trained: dict[str, Range] = {name: get_param(params, f"ranges.{name}", Range) for name in ranges}
        longest = {name: of.longest for name, of in trained.items()}
        made = {(task, name): training_steps(params, task, name) for task in TASKS for name in ranges}
        return cls(get_param(params, "norm", Norm), get_param(params, "seed", Index), longest, made)


def compare_results(folder: Path, accuracy: pd.DataFrame, answers: Answers | None, what: Compared) -> None:
    """Write the paired tests, tables and metrics of these accuracies; without `answers`, no shares of uncertainty."""
    paper, ranges = read_csv(REFERENCE, *CSV["reference"]), list(what.longest)
    tests = paired_tests(accuracy, answers, what.norm, what.root, ranges)
    beside = cells(tests, paper)
    write_csv(folder / "accuracy.csv", accuracy)
    write_csv(folder / TABLES.name / "tests.csv", tests)
    write_csv(folder / TABLES.name / "paper.csv", beside)
    write_json(folder / TABLES.name / "paper.json", agreement(beside))
    write_text(folder / TABLES.name / "paper.md", markdown(agreement(beside)))
    write_json(folder / "summary.json", overview(accuracy, what.norm, what.longest))
    for task in TASKS:
        by_range = {name: summary(select(tests, task, name, what.norm, "none")) for name in ranges}
        write_json(folder / f"{task}.json", by_range)
    for number, table in tables(tests, what.norm, paper, what.steps).items():
        path = folder / TABLES.name / f"table{number}"
        write_text(path.with_suffix(".md"), table.markdown())
        write_text(path.with_suffix(".tex"), table.latex())
        write_csv(path.with_suffix(".csv"), table.numbers)


def explain(folder: Path, beside: pd.DataFrame, root: int) -> None:
    """Write how much of the accuracy each quantity explains, of the models of `beside_accuracy`."""
    table = explained(beside, root)
    write_csv(folder / "mechanism.csv", beside)
    write_csv(folder / "explained.csv", table)
    write_text(folder / "mechanism.md", attribution_table.markdown(table))


def recover(folder: Path, accuracy: pd.DataFrame, counts: pd.DataFrame, norm: str, longest: Mapping[str, int]) -> None:
    """Write the shares of the lost accuracy that interventions recover or reproduce."""
    of_loss, read = shares(accuracy, longest), read_out(counts)
    pairs = [(task, name, norm if name == "long" else "ln") for task in TASKS for name in RANGES]
    gains = {pair: parts for pair in pairs if (parts := gain(accuracy, *pair, longest[pair[1]]))}
    write_csv(folder / "shares.csv", of_loss)
    write_csv(folder / "read-out.csv", read)
    write_text(folder / "interventions.md", shares_table.markdown(of_loss, gains, read))


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    blocks, seeds = get_param(params, "blocks", Blocks), get_param(params, "seeds_per_block", SeedsPerBlock)
    what = Compared.of(params, RANGES)
    runs = expected(what.norm, blocks)

    def evaluated(name: str) -> list[pd.DataFrame]:
        return [read_frame(one.folder("evaluated") / f"{name}.parquet", *PARQUET[name]) for one in runs]

    def together(name: str) -> pd.DataFrame:
        pairs = zip(runs, evaluated(name), strict=True)
        return pd.concat(frame.assign(task=one.task, range=one.range, norm=one.norm) for one, frame in pairs)

    accuracy = gather(zip(runs, evaluated("accuracy"), strict=True), seeds)
    lengths = sorted(accuracy["length"].unique().tolist())
    stored = [one.folder("evaluated") / "answers.safetensors" for one in runs]
    right = dict(zip(runs, read_answers(stored, lengths, seeds), strict=True))

    def answers(task: str, range_: str, one: str) -> dict[str, np.ndarray]:
        parts = [right[Run(task, range_, one, block)] for block in blocks]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    compare_results(METRICS, accuracy, answers, what)
    fits = [frame.assign(**vars(one)) for one, frame in zip(runs, evaluated("temperatures"), strict=True)]
    write_csv(TABLES / "temperatures.csv", pd.concat(fits)[[*vars(runs[0]), *PARQUET["temperatures"]]])
    explain(METRICS, beside_accuracy(together("mechanism"), together("accuracy")), what.root)
    set_apart = read_frame(INTERVENTIONS / "accuracy.parquet", *PARQUET["interventions"])
    counts = read_frame(INTERVENTIONS / "counts.parquet", *PARQUET["counts"])
    recover(METRICS / "interventions", set_apart, counts, what.norm, what.longest)


if __name__ == "__main__":
    run(main)
