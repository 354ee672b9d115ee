"""Make the leaderboard's page, which is a section of the study's as well."""

from vanishing_variance.core.config import PATH, get_param
from vanishing_variance.core.files import write_text
from vanishing_variance.core.frames import read_csv
from vanishing_variance.core.ranges import Range
from vanishing_variance.core.stage import Arguments, run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.leaderboard import ablation, ceiling, curves
from vanishing_variance.report.leaderboard import Results, page
from vanishing_variance.report.text import read_svg
from vanishing_variance.study.runs import METRICS, PLOTS

FOLDER, PLOT = METRICS / "leaderboard", PLOTS / "leaderboard"


def main() -> None:
    Arguments(description=__doc__).parse_args()
    results = Results(
        board=read_csv(FOLDER / "board.csv", "task", "line", "rule", "overall_rank", "step"),
        accuracy=read_csv(FOLDER / "accuracy.csv", *curves.COLUMNS),
        gains=read_csv(FOLDER / "ablation.csv", *ablation.COLUMNS),
        ceilings=read_csv(FOLDER / "ceiling.csv", *ceiling.COLUMNS),
        picture=read_svg(PLOT / "leaderboard.svg"),
        trained=get_param(read_yaml(PATH), "ranges.short", Range),
    )
    write_text(PLOT / "index.html", page(results))


if __name__ == "__main__":
    run(main)
