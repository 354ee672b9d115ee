"""Draw every figure but Figure 1, and write the training losses, and what DVC draws."""

from collections.abc import Mapping, Sequence

import pandas as pd

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import Range, ranges_of
from vanishing_variance.engine.seeds import Blocks
from vanishing_variance.figures import (
    accuracy,
    figure2,
    figure3,
    figure4,
    interventions,
    loss,
    mechanism,
    proposition,
)
from vanishing_variance.figures.config import Figures
from vanishing_variance.figures.drawing import Drawing, not_measured, write_figure
from vanishing_variance.figures.variants import roles
from vanishing_variance.harness.frames import read_csv, read_frame, rounded, tidied, write_csv
from vanishing_variance.harness.paths import FIGURES, LOSSES, METRICS, NETWORK, PAPER, PLOT_DATA, PLOTS, Run
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.runs import REFERENCE, TASKS
from vanishing_variance.results.shares import shares

# Figures of the inside of the paper's network, with titles for any other.
INSIDE = {
    **{f"figure{number}": f"Figure {number}" for number in (2, 3, 4)},
    "proposition": "Proposition 1",
    "mechanism": "What explains the accuracy",
    "interventions": "Interventions",
}


def save(name: str, drawing: Drawing) -> None:
    write_figure(FIGURES / "results" / name, drawing)


def draw_inside(shown: Figures, runs: Sequence[Run], longest_trained: int) -> None:
    """Draw Figures 2 to 4: inside the first model of `none` and of the treatment."""
    norm = runs[-1].norm

    def read(name: str) -> dict[str, pd.DataFrame]:
        return {one.norm: read_frame(one.folder("evaluated") / f"{name}.parquet") for one in runs}

    densities = figure2.data(read("features"), shown.lengths)
    save("figure2", figure2.draw(densities, shown.task))
    moments = figure3.data(read("moments"), longest_trained)
    sequences = int(densities["n"].iloc[0])
    save("figure3", figure3.draw(moments, shown.task, norm, sequences))
    write_csv(PLOT_DATA / "figure3.csv", rounded(moments))
    weights = figure4.data(read("attention"), shown.lengths)
    save("figure4", figure4.draw(weights, shown.task))


def draw_measured(longest: Mapping[str, int]) -> None:
    """Draw what other stages measured inside the models."""
    lines = read_csv(PLOTS / "proposition" / "proposition.csv")
    exponents = read_csv(PLOTS / "proposition" / "proposition-exponents.csv")
    save("proposition", proposition.draw(lines, exponents))
    inside = read_csv(METRICS / "mechanism.csv")
    seeds = inside.groupby(["task", "range", "norm"])["seed"].nunique()
    save("mechanism", mechanism.draw(read_csv(METRICS / "explained.csv"), longest, seeds))
    intervened = tidied(read_csv(METRICS / "interventions" / "accuracy.csv"), "accuracy")
    save("interventions", interventions.draw(shares(intervened, longest), longest["short"]))


def draw_range(name: str, lengths: Range, norm: str, losses: pd.DataFrame) -> None:
    """Draw accuracies and training losses of a range, and write them for DVC's plots."""
    suffix = "" if name == "short" else f"-{name}"
    means = accuracy.data(read_csv(METRICS / "accuracy.csv"), TASKS, name)
    steps = {}
    for task in TASKS:
        of_task = rows(losses, task=task)
        steps[task] = int(of_task["step"].max())
        write_csv(PLOT_DATA / f"loss-{task}{suffix}.csv", roles(of_task, "step", "loss", norm).round(6))
        plain = rows(means, task=task, rule="plain")
        write_csv(PLOT_DATA / f"accuracy-{task}{suffix}.csv", roles(plain, "length", "mean", norm).round(3))
    shown = loss.data(losses)
    write_csv(PLOT_DATA / f"loss{suffix}.csv", rounded(shown))
    save(f"loss{suffix}", loss.draw(shown, lengths))
    papers = accuracy.papers(read_csv(REFERENCE), name)
    drawing = accuracy.draw(means, papers, name, (lengths.shortest, lengths.longest), steps)
    save(f"accuracy{suffix}", drawing)


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    network = read_yaml(NETWORK)["network"]
    norm = get_param(params, "norm", Norm)
    blocks = get_param(params, "blocks", Blocks)
    shown = get_param(params, "figures", Figures)
    attention = get_param(params, "attention", str)
    ranges: dict[str, Range] = {name: get_param(params, f"ranges.{name}", Range) for name in ranges_of(params)}
    longest = {name: lengths.longest for name, lengths in ranges.items()}
    pair = ["none", norm]
    losses = read_frame(LOSSES)
    losses = losses[losses["norm"].isin(pair)]

    if network == PAPER:
        draw_inside(shown, [Run(shown.task, "short", one, blocks[0], attention) for one in pair], longest["short"])
        draw_measured(longest)
    else:
        write_csv(PLOT_DATA / "figure3.csv", pd.DataFrame(columns=figure3.PLOTTED))
        for name, title in INSIDE.items():
            save(name, not_measured(title, network))
    for name, lengths in ranges.items():
        draw_range(name, lengths, norm, losses[losses["range"] == name])


if __name__ == "__main__":
    run(main)
