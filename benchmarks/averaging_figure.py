"""The figure of what averaged weights do to accuracy and to the gain of ln: plots/protocols/averaging.png.

`python -m benchmarks.averaging_figure`, from metrics/averaging.csv.
"""

import pandas as pd

from benchmarks import ROOT
from benchmarks.averaging import COLUMNS, WEIGHTS
from benchmarks.protocols import LONGEST, NORMS
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure
from vanishing_variance.figures.style import figure, legend_above
from vanishing_variance.figures.variants import colour, label, look, seeds
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.runs import METRICS
from vanishing_variance.statistics.intervals import interval

# Inches: of a protocol, and of what is above and below all.
ROW, REST = 0.36, 0.75
# How far a row's two lines are from its middle, in rows.
APART = 0.17
MEANINGS = {"last": "last weights", "mean": "mean weights of the last tenth of the steps"}


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
            axes.plot([mean for mean, _, _ in bounds], [place + shift] * 2, color=colour(norm), linestyle=":")
            for (mean, low, high), weights in zip(bounds, WEIGHTS, strict=True):
                axes.errorbar(
                    mean,
                    place + shift,
                    xerr=[[mean - low], [high - mean]],
                    fmt=look(norm)["marker"],
                    color=colour(norm),
                    markerfacecolor=colour(norm) if weights == "mean" else "white",
                    elinewidth=0.6,
                    capsize=1.5,
                    label=f"{label(norm)}, {MEANINGS[weights]}",
                )
    axes.set_yticks(range(len(rows)), [f"{task}: {protocol}" for task, protocol in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(f"accuracy beyond {LONGEST} items (%)")
    legend_above(picture, columns=len(NORMS))
    n = models.groupby(level=["task", "protocol"], sort=False).size() // (len(NORMS) * len(WEIGHTS))
    return Drawing(
        picture,
        "Averaging weights lifts accuracy at length, and leaves what ln gains or costs",
        "The same trainings, tested with their last weights and with the mean of those of the last tenth of the steps: "
        f"mean over the lengths beyond {LONGEST}, plain softmax, with 95% t intervals over {seeds(n)} "
        "seeds. Protocols: metrics/protocols.md.",
    )


if __name__ == "__main__":
    main()
