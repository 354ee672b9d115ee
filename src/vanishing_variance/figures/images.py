"""Figures as PNG and SVG: the same figure gives the same bytes."""

from functools import partial
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from vanishing_variance.core.files import write


def write_figure(stem: Path, figure: Figure) -> None:
    """Write `<stem>.png` at the figure's resolution and `<stem>.svg`, without dates and version numbers."""
    write(stem.with_suffix(".png"), partial(figure.savefig, format="png", metadata={"Software": None}))
    figure.set_layout_engine("none")  # laid out once, for both
    with rc_context({"svg.hashsalt": "vanishing-variance"}):  # else the identifiers in the file are random
        write(stem.with_suffix(".svg"), partial(figure.savefig, format="svg", metadata={"Date": None, "Creator": None}))
