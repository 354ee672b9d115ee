"""Gain of LN beyond training against the steps of training, by learning rate."""

import pandas as pd
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.columns import rows

LOOKS = {
    "constant 0.001": style.SERIES[0],
    "constant 0.001, averaged weights": style.SERIES[2],
    "falling from 0.001 to 0": style.SERIES[3],
    "falling from each arm's best rate to 0": style.SERIES[1],
    "constant 0.001, the paper's steps": style.SERIES[5],
    "constant, each arm's best rate at 40,000 steps": style.SERIES[4],
}
# As a part of the steps: how far a mark stands from others at the same steps, which it would hide.
BESIDE = {"constant 0.001, averaged weights": 0.008, "falling from each arm's best rate to 0": -0.008}


def draw(gains: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a line or a mark a schedule. `gains`: `report.schedules.read_schedules`."""
    figure = style.figure(3.0)
    tasks = gains["task"].unique()
    panels = figure.subplots(1, len(tasks), sharey=True)
    for axes, task in zip(panels, tasks, strict=True):
        axes.axhline(0, color="#000000", lw=0.9, zorder=0)
        of_task = rows(gains, task=task)
        for schedule in of_task["schedule"].unique():
            own, look = rows(of_task, schedule=schedule), LOOKS[schedule]
            errors = [own["mean"] - own["low"], own["high"] - own["mean"]]
            if not schedule.startswith("constant"):  # fewer steps are another training
                look = look | {"linestyle": "none"}
            at = own["steps"] + BESIDE.get(schedule, 0) * of_task["steps"].max()
            axes.errorbar(at, own["mean"], yerr=errors, **look, lw=1.2, label=schedule)
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 10]))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.set(title=str(task), xlabel="steps of training", xlim=(0, None))
    panels[0].set_ylabel("gain of LN beyond\ntraining (points)")
    style.legend_above(figure, columns=2)
    counts = variants.seeds(gains["n"])
    note = f"n = {counts} seeds, paired; bars: 95% t intervals over seeds; best rate: of the lowest held-out loss"
    style.note(figure, note)
    about = []
    for label, own in gains.groupby("schedule", sort=False):
        seeds = []
        for task, n in own.groupby("task", sort=False)["n"]:
            numbers = " and ".join(map(str, n.unique()))
            seeds.append(f"{task!s} {numbers}")
        about.append(f"{label}: {', '.join(seeds)}")
    caption = (
        f"Mean paired differences over n seeds ({'; '.join(about)}); bars: 95% t intervals over seeds. An arm's best "
        "rate has its lowest loss on held-out sequences: constant, on the dictionary, 0.0005 after 40,000 steps and "
        "0.001 after 10,000. The paper's steps: of argmax 100,000, of the dictionary 10,000. Lines join checkpoints of "
        "the same trainings."
    )
    return Drawing(figure, "Gain of LN by the steps of training and by the learning rate", caption)
