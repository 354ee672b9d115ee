"""Draw gains.png from protocols.csv: `python studies/protocols/gains.py`."""

from pathlib import Path

import pandas as pd
from scipy import stats

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.columns import rows
from vanishing_variance.results.runs import REFERENCE

HERE = Path(__file__).parent
SEQUENCES = 512
BEHIND = 0.5  # points below the paper's at 2^4: a baseline no further below is as good
USED = "biases"
LOOKS = {
    True: ("#0072B2", "o", "baseline as good as the paper's"),
    False: ("#999999", "D", "baseline worse than the paper's"),
}


def gains(models: pd.DataFrame, papers_baseline: float) -> pd.DataFrame:
    """Return the gain of `ln` over `none` by protocol, in order: points beyond training, half of its interval, n."""
    models = rows(models, task="dictionary").set_index(["protocol", "seed"])
    beyond = models[[f"last_{2**exponent}" for exponent in range(5, 15)]].mean(axis=1)
    of_norm = {norm: beyond[models["norm"] == norm] for norm in ("ln", "none")}
    points = (100 / SEQUENCES * (of_norm["ln"] - of_norm["none"])).dropna().groupby("protocol")
    found = points.agg(["mean", "sem", "size"])
    found["half"] = found["sem"] * stats.t.ppf(0.975, found["size"] - 1)
    none = models[models["norm"] == "none"]
    at_shortest = 100 / SEQUENCES * none.groupby("protocol")["last_16"].mean()
    found["comparable"] = at_shortest >= papers_baseline - BEHIND
    return found.sort_values("mean").reset_index()


def draw(gains: pd.DataFrame) -> Drawing:
    """Draw a mark with its interval for each protocol; the one that was used has its name."""
    figure = style.figure(2.7)
    axes = figure.subplots()
    for comparable, (colour, marker, label) in LOOKS.items():
        own = rows(gains, comparable=comparable)
        axes.errorbar(
            own.index, own["mean"], yerr=own["half"], fmt=marker, lw=1, color=colour, label=f"{label} ({len(own)})"
        )
    place = gains.index[gains["protocol"] == USED][0]
    top = (gains["mean"] + gains["half"])[place]
    arrow = {"arrowstyle": "->", "lw": 0.8}
    axes.annotate("the network used here", (place, top), (place - 4, 18), ha="center", arrowprops=arrow)
    axes.axhline(0, color="#000000", lw=0.9, zorder=0)
    axes.set(xlabel=f"{len(gains)} networks and trainings, in the order of the gain")
    axes.set(ylabel="gain of LN at 32 to\n16,384 items (points)", title="dictionary", xticks=[])
    style.legend_above(figure, columns=2)
    seeds = f"n = {variants.seeds(gains['size'])} seeds a mark, paired; bars: 95% t intervals over seeds"
    style.note(figure, f"{seeds}; as good: at most half a point below the paper's at 16 items")
    return Drawing(figure, "Gain of LN on the dictionary in every network and training that was tried", f"{seeds}.")


if __name__ == "__main__":
    reference = rows(read_csv(REFERENCE), task="dictionary", rule="last", line="none", statistic="accuracy", length=16)
    write_figure(HERE / "gains", draw(gains(read_csv(HERE / "protocols.csv"), reference["value"].item())))
