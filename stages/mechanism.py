"""How much of the accuracy what happens inside the models explains: a table, and the figure of it."""

from pathlib import Path

import pandas as pd

from vanishing_variance.analysis.attribution import beside_accuracy, explained
from vanishing_variance.analysis.attribution_table import markdown
from vanishing_variance.columns import CSV, PARQUET
from vanishing_variance.command import Arguments, run
from vanishing_variance.figures.mechanism import draw
from vanishing_variance.io.files import write_text
from vanishing_variance.io.frames import read_csv, read_frame, write_csv
from vanishing_variance.io.images import write_figure
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.norm import Norm
from vanishing_variance.params.seeds import Blocks, Index
from vanishing_variance.study import METRICS, PLOTS, RANGES, expected


def explain(metrics: Path, plots: Path, beside: pd.DataFrame, root: int) -> None:
    """Write how much of the accuracy each quantity explains, of the models of `beside_accuracy`."""
    table = explained(beside, root)
    write_csv(metrics / "mechanism.csv", beside)
    write_csv(metrics / "explained.csv", table)
    write_text(metrics / "mechanism.md", markdown(table))
    write_figure(plots / "mechanism", draw(table))


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--range", choices=RANGES, action="append", help="by hand, where no other has been trained")
    ranges = list(dict.fromkeys(parser.parse_args().range or RANGES))
    params = read_yaml(PATH)
    runs = expected(take(params, "norm", Norm), take(params, "blocks", Blocks), ranges)
    root: int = take(params, "seed", Index)
    frames = ((one, read_frame(one.path("mechanism", ".parquet"), *PARQUET["mechanism"])) for one in runs)
    measured = pd.concat([frame.assign(task=one.task, range=one.range, norm=one.norm) for one, frame in frames])
    beside = beside_accuracy(measured, read_csv(METRICS / "accuracy.csv", *CSV["accuracy"]))
    explain(METRICS, PLOTS, beside, root)


if __name__ == "__main__":
    run(main)
