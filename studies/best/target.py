"""Draw target.png from the table of target.md, as rounded there: `python studies/best/target.py`."""

import re
from pathlib import Path

import pandas as pd

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.files import read_text
from vanishing_variance.results.columns import rows

HERE = Path(__file__).parent
LOOKS = {"constant rate": style.SERIES[0], "falling rate": style.SERIES[2]}
X, Y = ["odds", "odds_low", "odds_high"], ["gain", "gain_low", "gain_high"]


def pairs(text: str) -> pd.DataFrame:
    """Return task, schedule, n, X and Y of the pairs that trained."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and cells[5].isdecimal() and "*" not in cells[2]:
            numbers = re.findall(r"[-+]\d+\.\d+", cells[6] + cells[7])
            found.append([cells[0], cells[4], int(cells[5]), *map(float, numbers)])
    return pd.DataFrame(found, columns=["task", "schedule", "n", *X, *Y])


def correlations(text: str) -> dict[str, str]:
    """Return r with its interval by task."""
    return dict(re.findall(r"\| (\w+) +\| +\d+ \| +\d+ \| (0\.\d\d \[[^]]+\])", text))


def draw(found: pd.DataFrame, r: dict[str, str]) -> Drawing:
    """Draw a panel a task, a mark a pair."""
    figure = style.figure(3.0)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (task, of_task) in zip(panels, found.groupby("task"), strict=True):
        axes.axhline(0, color="#000000", lw=0.9, zorder=0)
        axes.axvline(0, color="#000000", lw=0.9, zorder=0)
        for schedule, look in LOOKS.items():
            (x, *_), (y, *_) = own = [rows(of_task, schedule=schedule)[names].to_numpy().T for names in (X, Y)]
            across, along = ([abs(low - mean), abs(high - mean)] for mean, low, high in own)
            axes.errorbar(x, y, xerr=across, yerr=along, **look | {"linestyle": "none"}, lw=0.9, label=schedule)
        axes.set(title=f"{task}: {len(of_task)} trainings, r = {r[str(task)]}")
        axes.set(xlabel="LN's change of the attention to the\ntarget at 16,384 items (log-odds)")
    panels[0].set_ylabel("gain of LN at 32 to\n16,384 items (points)")
    style.legend_above(figure, columns=2)
    seeds = f"a mark: LN beside none, n = {variants.seeds(found['n'])} seeds, paired"
    bars = "bars: 95% t intervals over seeds; brackets: over settings"
    style.note(figure, f"{seeds}; {bars}; drawn after the results")
    caption = f"Last weights; {seeds}; {bars}. It describes: attention is an effect of training with LN, too."
    return Drawing(figure, "Gain of LN against what LN does to attention to the target", caption)


if __name__ == "__main__":
    text = read_text(HERE / "target.md")
    write_figure(HERE / "target", draw(pairs(text), correlations(text)))
