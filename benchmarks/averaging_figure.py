"""The figure of what averaged weights do to accuracy and to the gain of ln: plots/protocols/averaging.png.

`python -m benchmarks.averaging_figure`, from metrics/averaging.csv.
"""

from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from benchmarks import ROOT
from benchmarks.averaging import COLUMNS, WEIGHTS
from benchmarks.protocols import LONGEST, NORMS
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure
from vanishing_variance.figures.style import GREY, figure
from vanishing_variance.figures.variants import colour, label, look, seeds
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.runs import METRICS
from vanishing_variance.statistics.intervals import interval

# Inches: of a protocol, and of what is above and below all.
ROW, REST = 0.36, 0.75
# How far a row's two lines are from its middle, in rows.
APART = 0.17


def main() -> None:
    write_figure(ROOT / "plots/protocols/averaging", draw(read_csv(ROOT / METRICS / "averaging.csv", *COLUMNS)))


def draw(found: pd.DataFrame) -> Drawing:
    """Draw the accuracy beyond training with the last weights and with the mean, a row a protocol."""
    beyond = found[(found["rule"] == "plain") & (found["length"] > LONGEST)]
    models = beyond.groupby(["task", "protocol", "norm", "weights", "seed"])["accuracy"].mean() * 100
    rows = [*beyond[["task", "protocol"]].drop_duplicates().itertuples(index=False, name=None)]
    picture = figure(ROW * len(rows) + REST)
    axes = picture.subplots()
    for place, (task, protocol) in enumerate(rows):
        for norm, shift in zip(NORMS, (-APART, APART), strict=True):
            bounds = [interval(models[task, protocol, norm, weights].to_numpy()) for weights in WEIGHTS]
            axes.plot([mean for mean, _, _ in bounds], [place + shift] * 2, color=colour(norm), linewidth=0.8)
            for (mean, low, high), filled in zip(bounds, (False, True), strict=True):
                bars = [[mean - low], [high - mean]]
                axes.errorbar(mean, place + shift, xerr=bars, elinewidth=0.6, capsize=1.5, **_point(norm, filled))
    axes.set_yticks(range(len(rows)), [f"{task}: {protocol}" for task, protocol in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(f"accuracy beyond {LONGEST} items (%)")
    shown = [(label(norm), _point(norm, True)) for norm in NORMS]
    shown += [
        (of, _point("none", filled, GREY)) for of, filled in (("last weights", False), ("mean of the last tenth", True))
    ]
    handles = [Line2D([], [], linestyle="", label=of, **style) for of, style in shown]
    picture.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    n = models.groupby(level=["task", "protocol"], sort=False).size() // (len(NORMS) * len(WEIGHTS))
    return Drawing(
        picture,
        "Averaging weights lifts accuracy at length, and leaves what ln gains or costs",
        "The same trainings, tested with their last weights and with the mean of those of the last tenth of the steps: "
        f"mean over the lengths beyond {LONGEST}, plain softmax, with 95% t intervals over {seeds(n)} "
        "seeds. Protocols: metrics/protocols.md.",
    )


def _point(norm: str, filled: bool, of: str = "") -> dict[str, Any]:
    """Return the marker of a variant, in its colour or another, hollow or not."""
    shade = of or colour(norm)
    return {"marker": look(norm)["marker"], "color": shade, "markerfacecolor": shade if filled else "white"}


if __name__ == "__main__":
    main()
