"""Add pieces of a study to a record, metrics/<name>/, and derive everything from all of them; not a stage of the graph.

A piece is a folder that stages.pieces left, here or in another clone or machine. A new record has the parameters of
params.yaml. Pieces that the record has already are left out, with a line; pieces of other parameters, and other numbers
of models that it has, are refused, and nothing is changed.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.claims.table import judged
from vanishing_variance.figures import accuracy as accuracy_figure
from vanishing_variance.figures.drawing import write_figure
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_bytes
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.locks import exclusive_lock
from vanishing_variance.harness.outputs import Files, write_files
from vanishing_variance.harness.paths import METRICS, PLOTS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import check
from vanishing_variance.results.explained import beside_accuracy
from vanishing_variance.results.files import TrainingSetup
from vanishing_variance.results.records.pieces import read_piece
from vanishing_variance.results.records.record import Record, derived, read_record, record_name
from vanishing_variance.results.runs import RANGES, REFERENCE, TASKS

# What the graph's figures and `dvc metrics diff` read of a run.
OF_A_RUN = ("explained.csv", "summary.json", "verdicts.json")


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("name", help="of the folder in metrics, for example paper-scale")
    parser.add_argument(
        "piece", nargs="*", type=Path, help="a folder of runs/pieces; without any, everything is derived again"
    )
    chosen = parser.parse_args()
    folder = METRICS / record_name(chosen.name)
    with exclusive_lock(f"record {folder.name}"):  # whichever pieces
        add(folder, chosen.piece)


def add(folder: Path, pieces: Sequence[Path]) -> None:
    """Add pieces to a record, and derive everything. Raises InputError, and then nothing is changed."""
    if not (pieces or folder.exists()):
        raise InputError(f"{folder}: is no record, and no piece of one is given")
    path = folder / PATH if folder.exists() else PATH
    params = read_yaml(path)
    check(params)
    record = read_record(folder) if folder.exists() else Record()
    for place in pieces:
        piece = read_piece(place, params)
        if record.holds(piece, str(place)):
            print(f"{place}: in the record already", file=sys.stderr)
        else:
            record = record.adding(piece)
    trained = TrainingSetup.of(params)
    files = derived(record, get_param(params, "norm", str), trained, read_csv(REFERENCE))
    files |= judgements(record, trained)
    write_bytes(folder / PATH, path.read_bytes())
    write_files(folder, {name: content for name, content in files.items() if name not in OF_A_RUN})
    draw(folder / PLOTS, record, trained)


def judgements(record: Record, trained: TrainingSetup) -> Files:
    """Return the verdicts on the claims that accuracies and the inside of models decide."""
    evidence = Evidence(
        accuracy=record.accuracy,
        mechanism=beside_accuracy(record.mechanism, record.accuracy),
        paper=read_csv(REFERENCE),
        training=trained,
    )
    claims = [claim for claim in CLAIMS if claim.rule.recorded]
    return judged(claims, evidence)


def draw(folder: Path, record: Record, trained: TrainingSetup) -> None:
    """Draw accuracy against length, a figure a range."""
    for name in RANGES:
        means = accuracy_figure.data(record.accuracy, TASKS, name)
        if means.empty:
            continue
        papers = accuracy_figure.papers(read_csv(REFERENCE), name)
        lengths = trained.shortest[name], trained.longest[name]
        steps = {task: trained.steps[task, name] for task in TASKS}
        figure = accuracy_figure.draw(means, papers, name, lengths, steps)
        stem = "accuracy" if name == "short" else f"accuracy-{name}"
        write_figure(folder / stem, figure)


if __name__ == "__main__":
    run(main)
