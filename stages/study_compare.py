"""Compare the lines of a study: its board as a frame, a table and a figure."""

from vanishing_variance.figures import board as board_figure
from vanishing_variance.figures import path
from vanishing_variance.figures.drawing import write_figure
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.board import board
from vanishing_variance.studies.line import STUDIES, plan_file
from vanishing_variance.studies.path import path_section
from vanishing_variance.studies.results import read_results
from vanishing_variance.studies.study import read_study
from vanishing_variance.studies.table import board_table


def main() -> None:
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    study = read_study(name)
    compare = read_yaml(plan_file(name))["compare"]
    longest, sequences = compare["longest"], compare["sequences"]
    results = read_results(name, study)
    table = board(results, study.baselines, longest, sequences)
    folder = STUDIES / name
    write_csv(folder / "board.csv", table)
    text = board_table(name, study.question, table) + path_section(results, study, longest, sequences)
    write_text(folder / "board.md", text)
    drawing = path.draw(study.question, table, study.path) if study.path else board_figure.draw(study.question, table)
    write_figure(folder / "board", drawing)


if __name__ == "__main__":
    run(main)
