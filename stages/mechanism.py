"""Measure how much of the accuracy the inside of the models explains: a table and a figure."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.seeds import Blocks, Index
from vanishing_variance.figures.images import write_figure
from vanishing_variance.figures.mechanism import draw
from vanishing_variance.harness.columns import PARQUET
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_frame, write_csv
from vanishing_variance.harness.norm import Norm
from vanishing_variance.harness.runs import FIGURES, METRICS, RANGES, expected
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.attribution import beside_accuracy, explained
from vanishing_variance.results.attribution_table import markdown


def explain(metrics: Path, plots: Path, beside: pd.DataFrame, root: int, longest: Mapping[str, int]) -> None:
    """Write how much of the accuracy each quantity explains, of the models of `beside_accuracy`.

    `longest`: the longest training length by range.
    """
    table = explained(beside, root)
    write_csv(metrics / "mechanism.csv", beside)
    write_csv(metrics / "explained.csv", table)
    write_text(metrics / "mechanism.md", markdown(table))
    seeds = beside.groupby(["task", "range", "norm"])["seed"].nunique()
    write_figure(plots / "mechanism", draw(table, longest, seeds))


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    runs = expected(get_param(params, "norm", Norm), get_param(params, "blocks", Blocks))
    root: int = get_param(params, "seed", Index)
    longest = {name: get_param(params, f"ranges.{name}", Range).longest for name in RANGES}
    measured, accuracy = (
        pd.concat(
            read_frame(one.folder("evaluated") / f"{name}.parquet", *PARQUET[name]).assign(
                task=one.task, range=one.range, norm=one.norm
            )
            for one in runs
        )
        for name in ("mechanism", "accuracy")
    )
    beside = beside_accuracy(measured, accuracy)
    explain(METRICS, FIGURES / "mechanism", beside, root, longest)


if __name__ == "__main__":
    run(main)
