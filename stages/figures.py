"""Draw every figure but Figure 1, and write the data of Figures 2 to 4, of accuracy and of the training losses."""

import pandas as pd

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.seeds import Blocks
from vanishing_variance.figures import accuracy, figure2, figure3, figure4, interventions, loss, mechanism, proposition
from vanishing_variance.figures.config import Figures
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure
from vanishing_variance.figures.variants import roles
from vanishing_variance.harness.frames import read_csv, read_frame, write_csv
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.runs import DATA, FIGURES, METRICS, PLOTS, RANGES, REFERENCE, TASKS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml


def save(name: str, drawing: Drawing, data: pd.DataFrame) -> None:
    write_figure(FIGURES / "results" / name, drawing)
    write_csv(DATA / f"{name}.csv", data)


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    norm, blocks = get_param(params, "norm", Norm), get_param(params, "blocks", Blocks)
    shown = get_param(params, "figures", Figures)
    ranges: dict[str, Range] = {name: get_param(params, f"ranges.{name}", Range) for name in RANGES}

    firsts = {one: Run(shown.task, "short", one, blocks[0]).folder("evaluated") for one in ("none", norm)}
    inside = {
        name: {one: read_frame(first / f"{name}.parquet") for one, first in firsts.items()}
        for name in ("features", "moments", "attention")
    }
    accuracies = read_csv(METRICS / "accuracy.csv")
    reference = read_csv(REFERENCE)
    cells, exponents = (
        read_csv(PLOTS / "proposition" / f"{name}.csv") for name in ("proposition", "proposition-exponents")
    )
    losses = {
        name: pd.concat(
            read_frame(one.folder("trained") / "losses.parquet").assign(task=one.task, norm=one.norm)
            for one in (Run(task, name, one, block) for task in TASKS for one in ("none", norm) for block in blocks)
        )
        for name in RANGES
    }

    densities = figure2.data(inside["features"], shown.lengths)
    save("figure2", figure2.draw(densities, shown.task), densities)
    moments = figure3.data(inside["moments"], ranges["short"].longest)
    save("figure3", figure3.draw(moments, shown.task, norm, int(densities["n"].iloc[0])), moments)
    weights = figure4.data(inside["attention"], shown.lengths)
    save("figure4", figure4.draw(weights, shown.task), weights)
    for name, of in losses.items():
        suffix = "" if name == "short" else f"-{name}"
        means, trained = accuracy.data(accuracies, TASKS, name), (ranges[name].shortest, ranges[name].longest)
        steps = {task: int(of.loc[of["task"] == task, "step"].max()) for task in TASKS}
        save(f"accuracy{suffix}", accuracy.draw(means, accuracy.papers(reference, name), trained, steps), means)
        save(f"loss{suffix}", loss.draw(of, ranges[name]), of[["task", "norm", "seed", "step", "loss"]])
        for task in TASKS:
            plain = means[(means["task"] == task) & (means["temperature"] == "plain")]
            write_csv(DATA / f"accuracy-{task}{suffix}.csv", roles(plain, "length", "mean", norm).round(3))
            write_csv(DATA / f"loss-{task}{suffix}.csv", roles(of[of["task"] == task], "step", "loss", norm).round(6))
    longest = {name: lengths.longest for name, lengths in ranges.items()}
    shares = read_csv(METRICS / "interventions" / "shares.csv")
    inside_all = read_csv(METRICS / "mechanism.csv")
    explained = read_csv(METRICS / "explained.csv")
    seeds = inside_all.groupby(["task", "range", "norm"])["seed"].nunique()
    write_figure(FIGURES / "results" / "proposition", proposition.draw(cells, exponents))
    write_figure(FIGURES / "results" / "mechanism", mechanism.draw(explained, longest, seeds))
    write_figure(FIGURES / "results" / "interventions", interventions.draw(shares, longest["short"]))


if __name__ == "__main__":
    run(main)
