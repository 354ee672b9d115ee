"""Gain of LN beyond training against the steps of training, by learning rate."""

from collections import Counter

import pandas as pd
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.columns import rows

LOOKS = {
    "constant 0.001": style.SERIES[0],
    "the same, averaged weights": style.SERIES[2],
    "falling from 0.001": style.SERIES[3],
    "falling from each arm's best": style.SERIES[1],
    "constant 0.001, other seeds": style.SERIES[5],
    "constant, best after 40,000 steps": style.SERIES[4],
}


def draw(gains: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a line or a mark a schedule. `gains`: `report.schedules.read_schedules`."""
    figure = style.figure(3.0)
    tasks = gains["task"].unique()
    panels = figure.subplots(1, len(tasks), sharey=True)
    for axes, task in zip(panels, tasks, strict=True):
        axes.axhline(0, color="#000000", lw=0.9, zorder=0)
        of_task = rows(gains, task=task)
        # Marks at the same steps do not hide each other.
        beside, earlier = 0.012 * of_task["steps"].max(), Counter[int]()
        for schedule in of_task["schedule"].unique():
            own, look = rows(of_task, schedule=schedule), LOOKS[schedule]
            at = own["steps"] + beside * own["steps"].map(earlier)
            earlier.update(own["steps"])
            errors = [own["mean"] - own["low"], own["high"] - own["mean"]]
            if not schedule.startswith("constant"):  # fewer steps are another training
                look = look | {"linestyle": "none"}
            axes.errorbar(at, own["mean"], yerr=errors, **look, lw=1.2, label=schedule)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.set(title=str(task), xlabel="steps of training", xlim=(0, None))
    panels[0].set_ylabel("gain of ln beyond\ntraining (points)")
    style.legend_above(figure, columns=3)
    about = []
    for label, own in gains.groupby("schedule", sort=False):
        seeds = []
        for task, counts in own.groupby("task", sort=False)["n"]:
            numbers = " and ".join(map(str, counts.unique()))
            seeds.append(f"{task!s} {numbers}")
        about.append(f"{label}: {', '.join(seeds)}")
    caption = (
        f"Mean paired differences over n seeds ({'; '.join(about)}); bars: 95% t intervals over seeds. An arm's best "
        "rate has its lowest loss on held-out sequences: constant, on the dictionary, 0.0005 after 40,000 steps and "
        "0.001 after 10,000. Other seeds: of the dictionary those that chose it, of argmax those of the paper's scale. "
        "A falling rate ends at 0. Lines join checkpoints of the same trainings. Marks at the same number of steps are "
        "drawn side by side."
    )
    return Drawing(figure, "Gain of ln by the steps of training and by the learning rate", caption)
