"""Print the board of a study, and where it is: how `make study NAME=<study>` ends."""

from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.studies.board import tables_of_tasks
from vanishing_variance.studies.files import STUDIES
from vanishing_variance.studies.study import read_study


def main() -> None:
    """Print the board of the study that the argument names. Raises InputError."""
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    study = read_study(name)
    board = read_csv(STUDIES / name / "board.csv").astype({"n": "Int64", "n_paired": "Int64"})
    print(
        "",
        study.question,
        *tables_of_tasks(board, study.statistics),
        f"the board: {STUDIES / name / 'board.md'}",
        sep="\n\n",
    )


if __name__ == "__main__":
    run_script(main)
