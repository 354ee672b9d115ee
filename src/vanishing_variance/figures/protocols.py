"""Gain of LN on the dictionary in each network and training of the closed study `protocols`, sorted."""

import numpy as np
import pandas as pd

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.results.accuracy import of_both, rows
from vanishing_variance.results.scale import BEHIND
from vanishing_variance.statistics.paired import difference

TASK, SEQUENCES = "dictionary", 512
# The one that was used, a row of protocols.csv.
USED = "biases"
LOOKS = {True: ("#0072B2", "baseline as good as the paper's"), False: ("#AAAAAA", "baseline worse")}


def gains(models: pd.DataFrame, papers_baseline: float) -> pd.DataFrame:
    """Return the gain of `ln` over `none` by protocol, in order: points beyond training, low, high, n, comparable.

    `models`: studies/protocols/protocols.csv. Paired by seed, with 95% t intervals. `comparable`: whether the mean of
    `none` at 2^4 is at most BEHIND below `papers_baseline` (percent).
    """
    beyond = [f"last_{2**exponent}" for exponent in range(5, 15)]
    percent = models[beyond].mean(axis=1) * 100 / SEQUENCES
    found = []
    for protocol, of_protocol in rows(models.assign(beyond=percent), task=TASK).groupby("protocol"):
        ours, theirs = (rows(of_protocol, norm=norm).set_index("seed") for norm in ("ln", "none"))
        ours_beyond, theirs_beyond = of_both(ours["beyond"], theirs["beyond"])
        gain = difference(ours_beyond.to_numpy(), theirs_beyond.to_numpy())
        at_shortest = theirs["last_16"].mean() * 100 / SEQUENCES
        found.append((protocol, gain.mean, gain.low, gain.high, gain.n, at_shortest >= papers_baseline - BEHIND))
    columns = ["protocol", "gain", "low", "high", "n", "comparable"]
    return pd.DataFrame(found, columns=columns).sort_values("gain", ignore_index=True)


def draw(gains: pd.DataFrame) -> Drawing:
    """Draw a mark with its interval for each protocol; the one that was used has its name."""
    figure = style.figure(2.4)
    axes = figure.subplots()
    for comparable, (colour, label) in LOOKS.items():
        own = gains[gains["comparable"] == comparable]
        errors = np.nan_to_num([own["gain"] - own["low"], own["high"] - own["gain"]])
        axes.errorbar(own.index, own["gain"], yerr=errors, fmt="o", ms=3.5, lw=1, color=colour, label=label)
    place = gains["protocol"].tolist().index(USED)
    top = gains["high"].iloc[place]
    axes.annotate("the one used", (place, top), (place - 4, 20), ha="center", arrowprops={"arrowstyle": "->"})
    axes.axhline(0, color="#000000", lw=0.9, zorder=0)
    axes.set(xlabel="networks and trainings, in the order of the gain", ylabel="gain of ln beyond\ntraining (points)")
    axes.set(xticks=[], ylim=(-15, 35))
    style.legend_above(figure, columns=2)
    seeds = f"n = {gains['n'].min()} to {gains['n'].max()} seeds each, paired"
    caption = (
        f"Dictionary, {len(gains)} networks and trainings, {seeds}; bars: 95% t intervals over seeds. As good as the "
        "paper's: at most half a point below it at 2^4."
    )
    return Drawing(figure, "Gain of ln on the dictionary in every network and training that was tried", caption)
