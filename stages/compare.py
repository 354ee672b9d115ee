"""Compare the lines of a study over seeds: its board, paired tests, tables, and what it measures beside.

Of params.yaml's study also gather the training losses, and the measurements of Proposition 1.
"""

from vanishing_variance.figures import board as board_figure
from vanishing_variance.figures import parts as parts_figure
from vanishing_variance.figures.drawing import write_figure
from vanishing_variance.harness.frames import write_files, write_frame
from vanishing_variance.harness.paths import LOSSES
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.board import note_of_ranges
from vanishing_variance.studies.files import STUDIES
from vanishing_variance.studies.plan import read_plan
from vanishing_variance.studies.reading import read_losses
from vanishing_variance.studies.study import read_study
from vanishing_variance.studies.tables import root_files, study_files

# A board of no more lines has no picture: the table says it.
FEW = 4
# What studies ask, or asked, for; of one that does so no more it would be of other results than its board.
ASKED_FOR = (
    *("settings.csv", "parts.md", "parts.png", "interventions.csv", "proposition.csv", "board.png", "claims.json"),
    *("tables/gains.md", "tables/paper.md", "tables/tables.md"),
)


def main() -> None:
    parser = Arguments(description=__doc__)
    parser.add_argument("--study", default="", help="a folder of studies; without, params.yaml's")
    name = parser.parse_args().study
    if name:
        compare_study(name)
    else:
        compare_root()


def compare_study(name: str) -> None:
    """Write the tables of a study, and its picture."""
    study = read_study(name)
    planned = read_plan(name)
    found, tested = study_files(study, planned)
    measured = set() if study.lines else {f"{name}.csv" for name in study.measured}  # of lines that are kept now
    for path in ASKED_FOR:
        if path not in found and path not in measured:
            (STUDIES / name / path).unlink(missing_ok=True)
    write_files(STUDIES / name, found)
    if "parts.md" in found:
        longest = planned.document["compare"]["longest"]
        of_lines = {line: longest[study.range_of(line)] for line in study.names}
        write_figure(STUDIES / name / "parts", parts_figure.draw(tested, of_lines))
    picture = STUDIES / name / "board"
    if len(study.names) > FEW and not study.paper_tables:
        of_ranges = note_of_ranges(planned.document["compare"]["longest"])
        write_figure(picture, board_figure.draw(study.question, found["board.csv"], of_ranges))


def compare_root() -> None:
    """Write the paired tests and tables of params.yaml's study, and what it measured inside the models."""
    params, planned = read_yaml(PATH), read_plan("")
    for folder, found in root_files(params, planned).items():
        write_files(folder, found)
    write_frame(LOSSES, read_losses(planned.runs))


if __name__ == "__main__":
    run_script(main)
