"""Style of every figure: a colour-blind-safe palette (Okabe and Ito 2008), sizes, powers of two, captions."""

from collections.abc import Iterable

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from vanishing_variance.study import markdown

BLUE, ORANGE, GREEN, PURPLE, SKY, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000"
FEATURES = (BLUE, ORANGE, GREEN, PURPLE, SKY)
_NORMS = {"none": BLACK, "ln": BLUE, "std": ORANGE, "rms": GREEN}

mpl.rcParams.update(
    {
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#DDDDDD",
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "figure.dpi": 150,
        "svg.fonttype": "path",
    }
)


def colour(norm: str) -> str:
    """Return the colour of a normaliser, the same in every figure; a new one is purple."""
    return _NORMS.get(norm, PURPLE)


def label(norm: str) -> str:
    """Return the name of a variant in a legend."""
    return "none" if norm == "none" else f"+ {norm}"


def length_axis(axes: Axes, lengths: Iterable[int]) -> None:
    """Set a logarithmic x axis of sequence lengths, labelled 2^k, every second one when they are many."""
    lengths = sorted(lengths)
    shown = lengths[:: 2 if len(lengths) > 6 else 1]
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([float(length) for length in shown]))
    axes.xaxis.set_major_formatter(FixedFormatter([power(length) for length in shown]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("sequence length N (items)")


def power(length: int) -> str:
    """Return a length as a power of two where it is one."""
    return markdown.power(length, "$2^{{{}}}$")


def caption(figure: Figure, text: str) -> None:
    """Write the caption below the panels; it says n and what a band is."""
    figure.supxlabel(text, fontsize=8, color="#444444", wrap=True)
