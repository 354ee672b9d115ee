"""Figures as PNG and SVG: the same figure gives the same bytes."""

from functools import partial
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.style import text_below
from vanishing_variance.harness.files import write


def write_figure(stem: Path, drawing: Drawing) -> None:
    """Write `<stem>.png`, with title and caption below the panels, and `<stem>.svg`, which carries them as metadata.

    The PNG stands alone; the page shows the SVG and writes its words in HTML. Neither has dates or version numbers.
    """
    figure = drawing.figure
    words = {"Title": drawing.title, "Description": drawing.caption, "Date": None, "Creator": None}
    with text_below(figure, f"{drawing.title}. {drawing.caption}"):
        _place(figure)
        write(stem.with_suffix(".png"), partial(figure.savefig, format="png", metadata={"Software": None}))
    _place(figure)
    with rc_context({"svg.hashsalt": "vanishing-variance"}):  # else the identifiers in the file are random
        write(stem.with_suffix(".svg"), partial(figure.savefig, format="svg", metadata=words))


def _place(figure: Figure) -> None:
    """Lay the figure out, and keep its axes there, rounded: the solver's last bits follow addresses in memory."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        left, bottom, width, height = axes.get_position(original=True).bounds
        axes.set_position((round(left, 6), round(bottom, 6), round(width, 6), round(height, 6)))
        axes.set_in_layout(True)
    figure.set_layout_engine("none")
