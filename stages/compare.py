"""Compare the lines of a study over seeds: its board, paired tests, tables, and what it measures beside.

Of params.yaml's study also gather the training losses, and the measurements of Proposition 1.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.figures import board as board_figure
from vanishing_variance.figures.drawing import write_figure
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.files import write_json, write_text
from vanishing_variance.harness.frames import read_csv, read_frame, write_csv, write_files, write_frame
from vanishing_variance.harness.paths import LOSSES, METRICS, PLOTS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH, Length, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.proposition import summary
from vanishing_variance.results.columns import rounded
from vanishing_variance.results.files import TrainingSetup, comparison, not_measured, recovery
from vanishing_variance.results.runs import REFERENCE, lines_of
from vanishing_variance.results.schema import by_rule
from vanishing_variance.results.shares import shares
from vanishing_variance.studies.board import board_of_study, board_table, steps_section
from vanishing_variance.studies.files import STUDIES, measured_file
from vanishing_variance.studies.paper_tables import evidence_of, files
from vanishing_variance.studies.plan import read_plan
from vanishing_variance.studies.reading import read_results
from vanishing_variance.studies.root import root_study
from vanishing_variance.studies.study import read_study

# A board of no more lines has no picture: the table says it.
FEW = 4


def main() -> None:
    parser = Arguments(description=__doc__)
    parser.add_argument("--study", default="", help="a folder of studies; without, params.yaml's")
    name = parser.parse_args().study
    if name:
        compare_study(name)
    else:
        compare_root()


def compare_study(name: str) -> None:
    """Write the board of a study, and what it asks for beside."""
    study = read_study(name)
    planned = read_plan(name)
    compare = planned.document["compare"]
    longest, sequences = compare["longest"], compare["sequences"]
    results = read_results(name, study, planned.runs)
    tested = by_rule(results)
    table = board_of_study(tested, study, longest, sequences)
    folder = STUDIES / name
    write_csv(folder / "board.csv", table)
    text = board_table(name, study.question, table) + steps_section(tested, study, longest)
    write_text(folder / "board.md", text)
    (folder / "board.png").unlink(missing_ok=True)
    if study.paper_tables:
        write_files(folder, files(evidence_of(study, compare["params"], results)))
    elif len(study.names) > FEW:
        write_figure(folder / "board", board_figure.draw(study.question, table))
    if planned.intervened:
        by_line = {line: longest[study.range_of(line)] for line in study.names}
        write_csv(folder / "interventions.csv", rounded(shares(gathered("interventions", planned.intervened), by_line)))
    if planned.proposed:
        write_csv(folder / "proposition.csv", rounded(summary.lines(gathered("proposition", planned.proposed))))


def compare_root() -> None:
    """Write the paired tests and tables of params.yaml's study, and what it measured inside the models."""
    params = read_yaml(PATH)
    study, planned = root_study(params), read_plan("")
    norm = params["norm"]
    tail = get_param(params, "proposition.tail", Length)
    trained = TrainingSetup.of(params, lines_of(norm, ranges_of(params)))

    @cache
    def answers(task: str, line: str) -> dict[str, np.ndarray]:
        runs = [one for one in planned.runs if (one.task, one.line) == (task, line)]
        parts = [read_arrays(one.folder("tested") / "answers.safetensors") for one in runs]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    results = read_results("", study, planned.runs).drop(columns="note")  # a diverged training ends the stage
    found = {"results.csv": results, **comparison(by_rule(results), answers, read_csv(REFERENCE), norm, trained)}
    if trained.network == PAPER:
        found |= recovery(gathered("interventions", planned.intervened), norm, trained)
        pair = [one for one in planned.proposed if one.norm in ("none", norm)]
        write_proposition(gathered("proposition", pair), tail, norm)
    else:
        found |= not_measured(trained.network)
        write_csv(PLOTS / "proposition" / "proposition-exponents.csv", pd.DataFrame(columns=summary.DRAWN))
        write_json(METRICS / "proposition.json", {})
    write_files(METRICS, found)
    losses = [read_frame(one.losses).assign(task=one.task, line=one.line) for one in planned.runs]
    write_frame(LOSSES, pd.concat(losses, ignore_index=True))


def gathered(kind: str, runs: Sequence[Run]) -> pd.DataFrame:
    """Return what was measured in some runs, with task and line."""
    frames = [read_csv(measured_file(one, kind)).assign(task=one.task, line=one.line) for one in runs]
    return pd.concat(frames, ignore_index=True)


def write_proposition(cells: pd.DataFrame, tail: int, norm: str) -> None:
    """Write what was measured of Proposition 1, and the exponents."""
    laws = summary.exponents(cells, tail)
    write_csv(PLOTS / "proposition" / "proposition.csv", rounded(summary.lines(cells)))
    write_csv(PLOTS / "proposition" / "proposition-exponents.csv", rounded(laws[summary.DRAWN]))
    write_json(METRICS / "proposition.json", summary.summary(cells, laws, norm))


if __name__ == "__main__":
    run_script(main)
