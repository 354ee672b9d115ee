"""A figure and the words that belong to it, and both as PNG: the same figure gives the same bytes."""

from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from vanishing_variance.figures import style
from vanishing_variance.harness.files import write

# A third of the bytes of full colour, and no visible difference.
COLOURS = 256


@dataclass(frozen=True)
class Drawing:
    """A figure, a phrase that says what is shown, and a caption that says of what, with n and what a band is.

    Both are plain text, which the page shows below the figure.
    """

    figure: Figure
    title: str
    caption: str


def without_data(title: str, said: str) -> Drawing:
    """Draw words in place of data."""
    figure = style.figure(height=1)
    figure.text(0.5, 0.5, f"{title}. {said}", ha="center", va="center")
    return Drawing(figure, title, said)


def write_figure(stem: Path, drawing: Drawing) -> None:
    """Write `<stem>.png`, which carries title and caption as metadata: the page shows them as text below it."""
    figure = drawing.figure
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        # rounded: the last bits of what lays out the axes follow addresses in memory
        left, bottom, width, height = axes.get_position(original=True).bounds
        axes.set_position((round(left, 6), round(bottom, 6), round(width, 6), round(height, 6)))
    full_colour = BytesIO()
    figure.savefig(full_colour, format="png")
    pixels = Image.open(full_colour).convert("RGB")
    picture = pixels.quantize(COLOURS, dither=Image.Dither.NONE)
    words = PngInfo()
    words.add_itxt("Title", drawing.title)
    words.add_itxt("Description", drawing.caption)
    write(stem.with_suffix(".png"), partial(picture.save, format="PNG", optimize=True, pnginfo=words))
