"""Gain of LN beyond training against the steps of training, by learning rate."""

import pandas as pd
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.accuracy import rows

LOOKS = {
    "constant 0.001": style.SERIES[0],
    "the same, averaged weights": style.SERIES[2],
    "falling from 0.001": style.SERIES[3],
    "falling from each arm's best": style.SERIES[1],
    "constant 0.001, other seeds": style.SERIES[5],
    "constant, each arm's best": style.SERIES[4],
}


def draw(gains: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a line or a mark a schedule. `gains`: `report.schedules.read_schedules`."""
    figure = style.figure(3.0)
    tasks = gains["task"].unique()
    panels = figure.subplots(1, len(tasks), sharex=True, sharey=True)
    for axes, task in zip(panels, tasks, strict=True):
        axes.axhline(0, color="#000000", lw=0.9, zorder=0)
        of_task = rows(gains, task=task)
        beside = 0.02 * gains["steps"].max()  # so that marks at the same steps do not hide each other
        marks, lines = 0, 0
        for schedule in of_task["schedule"].unique():
            own, look = rows(of_task, schedule=schedule), LOOKS[schedule]
            shift = (marks + 1) * beside if len(own) == 1 else -lines * beside / 2
            marks, lines = marks + (len(own) == 1), lines + (len(own) > 1)
            errors = [own["mean"] - own["low"], own["high"] - own["mean"]]
            axes.errorbar(own["steps"] + shift, own["mean"], yerr=errors, **look, lw=1.2, label=schedule)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.set(title=str(task), xlabel="steps of training", xlim=(0, None))
    panels[0].set_ylabel("gain of ln beyond\ntraining (points)")
    style.legend_above(figure, columns=3)
    about = []
    for label, own in gains.groupby("schedule", sort=False):
        seeds = [f"{task} {n}" for task, n in own.drop_duplicates("task")[["task", "n"]].to_numpy()]
        about.append(f"{label}: {', '.join(seeds)}")
    caption = (
        f"Mean paired differences over n seeds ({'; '.join(about)}); bars: 95% t intervals over seeds. Each arm's best "
        "rate has its lowest loss on held-out sequences; at a constant rate on the dictionary it is 0.0005, chosen "
        "after 40,000 steps by the seeds called other. A falling rate ends at 0. A line joins the same trainings after "
        "fewer steps. Marks at the same number of steps are drawn side by side."
    )
    return Drawing(figure, "Gain of ln by the steps of training and by the learning rate", caption)
