"""Add pieces of a study to a record, metrics/<name>/, and derive everything from all of them; not a stage of the graph.

A piece is a folder that stages.pieces left, here or in another clone or machine. A new record has the parameters of
params.yaml. Pieces that the record has already are left out, with a line; pieces of other parameters, and other numbers
of models that it has, are refused, and nothing is changed.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stages.claims import judge_results
from stages.ttest import Compared, compare_results, explain
from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.engine.seeds import Index
from vanishing_variance.figures import accuracy as accuracy_figure
from vanishing_variance.figures.images import write_figure
from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv, write_csv
from vanishing_variance.harness.locks import exclusive_lock
from vanishing_variance.harness.runs import METRICS, PLOTS, RANGES, REFERENCE, TASKS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import check
from vanishing_variance.report.text import read_text
from vanishing_variance.results.records.folder import read_record, replace, restore
from vanishing_variance.results.records.pieces import (
    check_parameters,
    is_recorded,
    merged,
    parameters,
    record_name,
    with_piece,
)
from vanishing_variance.results.records.stored import read_piece


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("name", help="of the folder in metrics, for example paper-scale")
    parser.add_argument(
        "piece", nargs="*", type=Path, help="a folder of runs/pieces; without any, everything is derived again"
    )
    chosen = parser.parse_args()
    record = METRICS / record_name(chosen.name)
    with exclusive_lock(f"record {record.name}"):  # whichever pieces
        add(record, chosen.piece)


def add(record: Path, folders: Sequence[Path]) -> None:
    """Add pieces to a record, and derive everything. Raises InputError, and then nothing is changed."""
    restore(record)
    path = record / PATH if record.exists() else PATH
    params = read_yaml(path)
    check(params)
    if not (folders or record.exists()):
        raise InputError(f"{record}: is no record, and no piece of one is given")
    (accuracy, mechanism), pieces = together(record, folders, params)
    to = record.with_name(f".{record.name}.tmp")
    shutil.rmtree(to, ignore_errors=True)
    try:
        write_text(to / PATH.name, read_text(path))
        write_csv(to / "pieces.csv", pieces)
        derive(to, accuracy, mechanism, params)
        replace(record, to)
    finally:
        shutil.rmtree(to, ignore_errors=True)
        restore(record)


def together(
    record: Path, folders: Sequence[Path], params: Mapping[str, Any]
) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Return accuracies and what is inside, of the record and the pieces together, and the list of all pieces."""
    frames, pieces = read_record(record) if record.exists() else ([pd.DataFrame()] * 2, pd.DataFrame())
    for folder in folders:
        described, *new = read_piece(folder)
        wanted = parameters(params, described["task"], described["range"])
        check_parameters(described["parameters"], wanted, str(folder))
        if all(is_recorded(have, one, str(folder)) for have, one in zip(frames, new, strict=True)):
            print(f"{folder}: in the record already", file=sys.stderr)
            continue
        frames = [merged(have, one) for have, one in zip(frames, new, strict=True)]
        pieces = with_piece(pieces, described)
    return frames, pieces


def derive(to: Path, accuracy: pd.DataFrame, mechanism: pd.DataFrame, params: Mapping[str, Any]) -> None:
    """Write the tests, tables, verdicts and figures of all models of a record."""
    ranges = [name for name in RANGES if name in set(accuracy["range"])]
    compare_results(to, accuracy, None, Compared.of(params, ranges))
    trained = {name: get_param(params, f"ranges.{name}", Range) for name in ranges}
    longest = {name: lengths.longest for name, lengths in trained.items()}
    explain(to, mechanism, get_param(params, "seed", Index))
    judge_results(to, None, to / PATH)
    for name in ranges:
        means, bounds = accuracy_figure.data(accuracy, TASKS, name), (trained[name].shortest, trained[name].longest)
        paper = accuracy_figure.papers(read_csv(REFERENCE, *CSV["reference"]), name)
        made = {task: training_steps(params, task, name) for task in TASKS}
        path = to / PLOTS / ("accuracy" if name == "short" else f"accuracy-{name}")
        write_csv(path.with_suffix(".csv"), means)
        write_figure(path, accuracy_figure.draw(means, paper, bounds, made))


if __name__ == "__main__":
    run(main)
