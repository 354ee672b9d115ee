"""The figure of how the gain of ln goes with the loss of training, over protocols: plots/protocols/loss.png.

`python -m benchmarks.protocols_figure`, from metrics/protocols.csv.
"""

import pandas as pd

from benchmarks import ROOT
from benchmarks.protocols import COLUMNS, FORETOLD, LONGEST, LOWER, by_protocol
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure
from vanishing_variance.figures.style import GREY, SERIES, figure, legend_above
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.runs import METRICS, REFERENCE
from vanishing_variance.results.baseline import BEHIND

# Nats: where two losses are further apart, one of the two models has hardly learned.
LEARNED = 0.2
HEIGHT = 2.9


def main() -> None:
    found = read_csv(ROOT / METRICS / "protocols.csv", *COLUMNS).query("task == 'dictionary'")
    paper = read_csv(ROOT / REFERENCE).query(
        "quantity == 'accuracy_pct' and task == 'dictionary' and range == 'short' and variant == 'none'"
        " and rule == 'plain' and length == @LONGEST"
    )
    write_figure(ROOT / "plots/protocols/loss", draw(by_protocol(found, paper["value"].item())))


def draw(protocols: pd.DataFrame) -> Drawing:
    """Draw the gain against the difference of the losses, of a frame of `by_protocol`."""
    drawn = protocols[protocols["lower"].abs() < LEARNED]
    picture = figure(HEIGHT)
    axes = picture.subplots()
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.axvline(LOWER, color=GREY, linestyle=":", label=f"the rule: ln gains where its loss is {LOWER} nats lower")
    later = drawn["protocol"].isin(FORETOLD)
    read_off = "protocols that the rule was read off", SERIES[0], drawn[~later]
    foretold = "protocols run later, to test it", SERIES[2], drawn[later]
    for name, style, of in (read_off, foretold):
        for near, part in of.groupby("near"):
            bars = [part["gain"] - part["low"], part["high"] - part["gain"]]
            colour = style["color"]
            axes.errorbar(
                part["lower"],
                part["gain"],
                yerr=bars,
                fmt=style["marker"],
                color=colour,
                markerfacecolor=colour if near else "white",
                elinewidth=0.6,
                label=name if near else f"{name}, with a weak baseline",
            )
    axes.set_xlabel("training loss of none − of ln (nats)")
    axes.set_ylabel("accuracy of ln − of none (pp)")
    legend_above(picture, columns=2)
    left_out = len(protocols) - len(drawn)
    return Drawing(
        picture,
        "Where ln gains at length it also trains better",
        f"Dictionary, {len(drawn)} protocols, trained on up to {LONGEST}: the mean gain over the lengths beyond, plain "
        f"softmax, with its 95% t interval over {drawn['n'].min()} to {drawn['n'].max()} seeds each. Weak baseline: "
        f"none is more than {BEHIND} points below the paper's at 2^4. {left_out} that hardly train are left out.",
    )


if __name__ == "__main__":
    main()
