"""Style of every figure: its width, fonts and colours, grids of panels, axes of lengths, bands, legends."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path
from string import ascii_letters
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.style import use
from matplotlib.ticker import FixedFormatter, FixedLocator, Formatter, LogLocator, NullFormatter, NullLocator

from vanishing_variance.harness import numbers
from vanishing_variance.results.columns import rows

# Matplotlib's defaults, whatever a matplotlibrc or a notebook has set, and ours.
STYLES = ("default", Path(__file__).with_name("style.mplstyle"))
# Inches: the text of a page of two columns.
WIDTH = 6.75
GREY, LIGHT = "#808080", "#EEEEEE"

# A panel, what it shows of the columns that make rows and columns of panels, and the rows of the frame.
Panel = tuple[Axes, Any, Any, pd.DataFrame]


def look(colour: str, dashes: Any, marker: str) -> dict[str, Any]:
    """Return matplotlib's options of a line."""
    return {"color": colour, "linestyle": dashes, "marker": marker}


# Of what is no variant, in the palette of Paul Tol (muted), its teal darker and bluer: colour-blind-safe, not pale, and
# apart from the variants' colours.
SERIES = (
    look("#332288", "-", "o"),
    look("#117733", "--", "D"),
    look("#CC6677", "-", "s"),
    look("#999933", "-.", "^"),
    look("#882255", "--", "v"),
    look("#29A0B2", ":", "X"),
)


def figure(height: float) -> Figure:
    """Return an empty figure as wide as a page's text, of this height in inches; what is drawn next has STYLES."""
    use(STYLES)
    return Figure(figsize=(WIDTH, height), layout="constrained")


def facets(
    frame: pd.DataFrame, row: str, column: str, margin: float, height: float, sharey: Literal["row", "all"] = "all"
) -> tuple[Figure, list[Panel]]:
    """Return a figure with a row of panels for every value of one column of a frame, a column for those of another.

    In inches, `height` is a row's, `margin` what is above and below all.
    """
    in_rows, in_columns = frame[row].unique(), frame[column].unique()
    drawn = figure(margin + height * len(in_rows))
    grid = drawn.subplots(len(in_rows), len(in_columns), sharex=True, sharey=sharey, squeeze=False)
    pairs = product(in_rows, in_columns)
    panels = []
    for axes, (of_row, of_column) in zip(grid.flat, pairs, strict=True):
        shown = rows(frame, **{row: of_row, column: of_column})
        panels.append((axes, of_row, of_column, shown))
    return drawn, panels


def letter(panels: Iterable[Axes]) -> None:
    """Put letters before the panels' titles, in their order of reading: (a) one, (b) another."""
    for name, axes in zip(ascii_letters, panels, strict=False):
        axes.set_title(f"({name}) {axes.get_title(loc='left')}")


def band(axes: Axes, low: pd.Series, high: pd.Series, colour: str) -> None:
    """Shade between two lines, whose index is x."""
    axes.fill_between(low.index.to_numpy(dtype=float), low, high, color=colour, alpha=0.2, lw=0)


def marks(axes: Axes, estimates: pd.DataFrame, heights: pd.Series, look: dict[str, Any], label: str) -> None:
    """Draw estimates at these heights, with their intervals: the columns are the estimates, low and high."""
    value, low, high = estimates.to_numpy(dtype=float).T
    # the interval of a few seeds may be missing, and need not hold the estimate
    errors = np.nan_to_num([value - low, high - value])
    axes.errorbar(
        value, heights, xerr=errors.clip(min=0), fmt=look["marker"], color=look["color"], zorder=3, label=label
    )


def legend_above(figure: Figure, columns: int) -> None:
    """Explain the lines of all panels once, above them."""
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=columns)


def note(figure: Figure, words: str) -> None:
    """Say below all panels of how many seeds they are, and what a band or a bar is: Markdown shows no caption."""
    figure.supxlabel(words, x=0.01, ha="left", size="medium", color="#444444")


def length_axis(axes: Axes, lengths: Iterable[int]) -> None:
    """Set a logarithmic x axis of sequence lengths, labelled 2^k; every second one when they are many, and the last."""
    lengths = sorted(lengths)
    shown = lengths[::2] if len(lengths) > 6 else lengths
    shown[-1] = lengths[-1]
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([power(length) for length in shown]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("sequence length N (items)")


def log_ticks(axis: Axis, formatter: Formatter | str) -> None:
    """Label 1, 2 and 5 times the powers of ten of a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(formatter)
    axis.set_minor_formatter(NullFormatter())


def power(length: int) -> str:
    """Return a length for a panel, as a power of two where it is one."""
    return numbers.power(length, "$2^{{{}}}$")
