"""Figures 2 to 4, those of accuracy, loss and parts, and the data of figures and of DVC's plots."""

from collections.abc import Mapping

import pandas as pd

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures import accuracy, figure2, figure3, figure4, loss, parts
from vanishing_variance.figures.config import Figures
from vanishing_variance.figures.drawing import Drawing, without_data
from vanishing_variance.figures.variants import roles
from vanishing_variance.results.columns import rounded, rows
from vanishing_variance.results.runs import TASKS, line_of

# Frames of the evaluation that Figures 2 to 4 show.
SHOWN = ("features", "moments", "attention")
# Figures of the inside of the paper's network, with titles for any other.
INSIDE = {
    **{f"figure{number}": f"Figure {number}" for number in (2, 3, 4)},
    "proposition": "Proposition 1",
    "interventions": "Interventions",
}

# Figures and frames by the name of the file.
Drawn = dict[str, Drawing | pd.DataFrame]


def of_inside(frames: Mapping[str, dict[str, pd.DataFrame]], shown: Figures, norm: str, trained: Range) -> Drawn:
    """Draw Figures 2 to 4: inside the first model of `none` and of the treatment.

    `frames`: those of SHOWN, each by normaliser; `trained`: the training lengths.
    """
    densities = figure2.data(frames["features"], shown.lengths)
    sequences = int(densities["n"].iloc[0])
    moments = figure3.data(frames["moments"], trained)
    weights = figure4.data(frames["attention"], shown.lengths)
    return {
        "figure2": figure2.draw(densities, shown.task),
        "figure3": figure3.draw(moments, shown.task, norm, sequences, trained),
        "figure4": figure4.draw(weights, shown.task),
        "figure3.csv": rounded(moments),
    }


def of_other_network(network: str) -> Drawn:
    """Draw that nothing was measured inside another network than the paper's."""
    figures = {name: without_data(title, f"Not measured: network {network}.") for name, title in INSIDE.items()}
    return {**figures, "figure3.csv": pd.DataFrame(columns=figure3.PLOTTED)}


def of_range(
    name: str, lengths: Range, norm: str, losses: pd.DataFrame, accuracies: pd.DataFrame, reference: pd.DataFrame
) -> Drawn:
    """Draw accuracies and training losses of a range, with a frame a task for DVC's plots."""
    suffix = "" if name == "short" else f"-{name}"
    # Of `ln` whatever the treatment is: a claim is about its losses.
    treated, none = (line_of(norm_, name) for norm_ in (norm, "none"))
    losses = losses[losses["line"].isin([none, line_of("ln", name), treated])]
    means = accuracy.data(accuracies, TASKS, name)
    shown = loss.data(losses)
    drawn: Drawn = {f"loss{suffix}.csv": rounded(shown)}
    steps = {}
    for task in TASKS:
        of_task = rows(losses, task=task)
        steps[task] = int(of_task["step"].max())
        drawn[f"loss-{task}{suffix}.csv"] = roles(of_task, "step", "loss", treated).round(6)
        last = rows(means, task=task, rule="last")
        drawn[f"accuracy-{task}{suffix}.csv"] = roles(last, "length", "mean", treated).round(3)
    papers = accuracy.papers(reference, name)
    trained = (lengths.shortest, lengths.longest)
    drawn[f"loss{suffix}"] = loss.draw(shown, lengths)
    drawn[f"accuracy{suffix}"] = accuracy.draw(means, papers, trained, steps)
    drawn[f"parts{suffix}"] = parts.draw(accuracies, dict.fromkeys([none, treated], lengths.longest))
    return drawn
