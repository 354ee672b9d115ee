"""Make the leaderboard's page, which is a section of the study's as well."""

from vanishing_variance.core.config import PATH, get_param
from vanishing_variance.core.files import write_text
from vanishing_variance.core.frames import read_csv
from vanishing_variance.core.ranges import Range
from vanishing_variance.core.stage import Arguments, run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.leaderboard import ablation, ceiling
from vanishing_variance.report.leaderboard import page
from vanishing_variance.report.text import read_svg
from vanishing_variance.study.runs import METRICS, PLOTS

FOLDER, PLOT = METRICS / "leaderboard", PLOTS / "leaderboard"


def main() -> None:
    Arguments(description=__doc__).parse_args()
    longest: int = get_param(read_yaml(PATH), "ranges.short", Range).longest
    board = read_csv(FOLDER / "board.csv", "task", "line", "rule", "overall_rank", "step")
    gains = read_csv(FOLDER / "ablation.csv", *ablation.COLUMNS)
    ceilings = read_csv(FOLDER / "ceiling.csv", *ceiling.COLUMNS)
    write_text(PLOT / "index.html", page(board, gains, ceilings, read_svg(PLOT / "leaderboard.svg"), longest))


if __name__ == "__main__":
    run(main)
