"""Style of every figure: its size on a two-column page, fonts, letters of panels, axes of lengths."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, product
from string import ascii_lowercase
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from vanishing_variance.harness import markdown

# Inches: the text of a page of two columns.
WIDTH = 6.75
# Points: titles and names of axes; everything else.
LARGE, SMALL = 8, 7
# Of a caption: characters of a line, the height of a line and what is between it and the panels, in inches.
CAPTION, LINE, GAP = 132, 0.117, 0.08
GREY, LIGHT = "#808080", "#EEEEEE"
# Of what is no variant, in the palette of Paul Tol (muted), its teal darker and bluer: colour-blind-safe, not pale, and
# apart from the variants' colours.
SERIES: tuple[dict[str, Any], ...] = tuple(
    {"color": colour, "linestyle": dashes, "marker": marker}
    for colour, dashes, marker in (
        *(("#332288", "-", "o"), ("#117733", "--", "D"), ("#CC6677", "-", "s")),
        *(("#999933", "-.", "^"), ("#882255", "--", "v"), ("#29A0B2", ":", "X")),
    )
)

mpl.rcParams.update(
    {
        "font.size": SMALL,
        "axes.titlesize": LARGE,
        "axes.labelsize": LARGE,
        "figure.labelsize": LARGE,
        "lines.linewidth": 1.2,
        "lines.markersize": 3,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#DDDDDD",
        "grid.linewidth": 0.5,
        "legend.frameon": False,
        "legend.handlelength": 2.8,
        "figure.dpi": 200,
        "svg.fonttype": "path",
    }
)


def figure(height: float) -> Figure:
    """Return an empty figure as wide as a page's text, of this height in inches."""
    return Figure(figsize=(WIDTH, height), layout="constrained")


def letter(panels: Iterable[Axes], titles: Iterable[str]) -> None:
    """Title the panels, in their order of reading: (a) one, (b) another."""
    letters = chain(ascii_lowercase, map("".join, product(ascii_lowercase, repeat=2)))
    for name, (axes, title) in zip(letters, zip(panels, titles, strict=True), strict=False):
        axes.set_title(f"({name}) {title}", loc="left")


def length_axis(axes: Axes, lengths: Iterable[int]) -> None:
    """Set a logarithmic x axis of sequence lengths, labelled 2^k; every second one when they are many, and the last."""
    lengths = sorted(lengths)
    shown = lengths[:: 2 if len(lengths) > 6 else 1]
    shown[-1] = lengths[-1]
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([float(length) for length in shown]))
    axes.xaxis.set_major_formatter(FixedFormatter([power(length) for length in shown]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("sequence length N (items)")


def power(length: int) -> str:
    """Return a length for a panel, as a power of two where it is one."""
    return markdown.power(length, "$2^{{{}}}$")


@contextmanager
def text_below(figure: Figure, text: str) -> Iterator[None]:
    """Make room below the panels, which keep their size, and write a text there; take both away afterwards."""
    lines, (width, height) = fill(text, CAPTION), figure.get_size_inches()
    room = GAP + LINE * (lines.count("\n") + 1.5)
    share = room / (height + room)
    below = figure.text(0.01, (room - GAP) / (height + room), lines, va="top", fontsize=SMALL, parse_math=False)
    below.set_in_layout(False)
    figure.set_size_inches(width, height + room)
    figure.set_layout_engine("constrained", rect=(0, share, 1, 1 - share))
    try:
        yield
    finally:
        below.remove()
        figure.set_size_inches(width, height)
        figure.set_layout_engine("constrained")
