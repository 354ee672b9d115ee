"""Compare the lines of a study: its board as a frame and a table, and what it asks for beside."""

from vanishing_variance.figures import board as board_figure
from vanishing_variance.figures.drawing import write_figure
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.outputs import write_files
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.board import board_of_study
from vanishing_variance.studies.line import STUDIES, plan_file
from vanishing_variance.studies.paper_tables import evidence_of, files
from vanishing_variance.studies.reading import by_rule, read_results
from vanishing_variance.studies.steps import steps_section
from vanishing_variance.studies.study import read_study
from vanishing_variance.studies.table import board_table

# A board of no more lines has no picture: the table says it.
FEW = 4


def main() -> None:
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    study = read_study(name)
    planned = read_yaml(plan_file(name))
    compare = planned["compare"]
    longest, sequences = compare["longest"], compare["sequences"]
    results = read_results(name, study, planned["runs"])
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


if __name__ == "__main__":
    run_script(main)
