"""A figure and the words that belong to it."""

from dataclasses import dataclass

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawing:
    """A figure, a phrase that says what is shown, and a caption that says of what, with n and what a band is.

    Both are plain text, which the page shows below the figure.
    """

    figure: Figure
    title: str
    caption: str
