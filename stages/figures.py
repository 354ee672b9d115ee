"""Draw Figures 2, 3 and 4, accuracy against length, the training losses, each with its data, and Proposition 1."""

import pandas as pd
from matplotlib.figure import Figure

from vanishing_variance.command import Arguments, run
from vanishing_variance.figures import accuracy, figure2, figure3, figure4, loss, proposition
from vanishing_variance.io.frames import read_csv, read_frame, write_csv
from vanishing_variance.io.images import write_figure
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.figures import Figures
from vanishing_variance.params.norm import Norm
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Blocks
from vanishing_variance.paths import Run
from vanishing_variance.study import METRICS, PLOTS, RANGES, TASKS


def save(name: str, figure: Figure, data: pd.DataFrame) -> None:
    write_figure(PLOTS / name, figure)
    write_csv(PLOTS / f"{name}.csv", data)


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--range", choices=RANGES, action="append", help="by hand, where no other has been trained")
    chosen = list(dict.fromkeys(parser.parse_args().range or RANGES))
    params = read_yaml(PATH)
    norm, blocks = take(params, "norm", Norm), take(params, "blocks", Blocks)
    shown = take(params, "figures", Figures)
    ranges: dict[str, Range] = {name: take(params, f"ranges.{name}", Range) for name in RANGES}

    def diagnostics(name: str) -> dict[str, pd.DataFrame]:
        firsts = {one: Run(shown.task, "short", one, blocks[0]) for one in ("none", norm)}
        return {one: read_frame(first.path("diagnostics") / f"{name}.parquet") for one, first in firsts.items()}

    densities = figure2.data(diagnostics("features"), shown.lengths)
    save("figure2", figure2.draw(densities, shown.task), densities)
    moments = figure3.data(diagnostics("moments"), ranges["short"].longest)
    save("figure3", figure3.draw(moments, shown.task, norm, int(densities["n"].iloc[0])), moments)
    weights = figure4.data(diagnostics("attention"), shown.lengths)
    save("figure4", figure4.draw(weights, shown.task), weights)

    accuracies = read_csv(METRICS / "accuracy.csv")
    for name, trained in ((name, ranges[name]) for name in chosen):
        suffix = "" if name == "short" else f"-{name}"
        means = accuracy.data(accuracies, TASKS, name)
        save(f"accuracy{suffix}", accuracy.draw(means, (trained.shortest, trained.longest)), means)
        runs = [Run(task, name, one, block) for task in TASKS for one in ("none", norm) for block in blocks]
        losses = pd.concat(
            [read_frame(one.path("losses", ".parquet")).assign(task=one.task, norm=one.norm) for one in runs]
        )
        save(f"loss{suffix}", loss.draw(losses), losses[["task", "norm", "seed", "step", "loss"]])
        for task in TASKS:
            write_csv(PLOTS / f"accuracy-{task}{suffix}.csv", accuracy.roles(means, task, norm))
            write_csv(PLOTS / f"loss-{task}{suffix}.csv", loss.data(losses, task, norm))
    cells, exponents = (read_csv(PLOTS / f"{name}.csv") for name in ("proposition", "proposition-exponents"))
    write_figure(PLOTS / "proposition", proposition.draw(cells, exponents))


if __name__ == "__main__":
    run(main)
