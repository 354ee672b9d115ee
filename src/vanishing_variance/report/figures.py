"""The figures of the page: pictures as `data:` images, with the title and the caption that they carry."""

from dataclasses import dataclass, replace
from itertools import chain
from urllib.parse import quote
from xml.etree import ElementTree

from scour.scour import parse_args, scourString

from vanishing_variance.core.errors import InputError

# What is shown, by section of the page; the file is <name>.svg, below plots/figures.
SECTIONS = {
    "cause": ("interventions", "mechanism"),
    "curves": ("accuracy", "accuracy-long"),
    "figures": ("figure1", "figure2", "figure3", "figure4", "proposition"),
    "losses": ("loss", "loss-long"),
}
NAMES = tuple(chain(*SECTIONS.values()))
_SCOUR = parse_args(
    ["--set-precision=5", "--shorten-ids", "--enable-comment-stripping", "--no-line-breaks", "--strip-xml-prolog"]
)
# What need not be escaped in a `data:` address between double quotes. Base64 is longer, and git packs it half as well.
_SAFE = " !$()*+,-./:;=?@[]^_`{|}~"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


@dataclass(frozen=True)
class Figure:
    """A picture; `title` is what it shows, also for who cannot see it, and `caption` says n and what a band is."""

    name: str
    title: str
    caption: str
    image: str


def figure(name: str, picture: str) -> Figure:
    """Return a figure of `figures.images.write_figure`, an SVG text. Raises InputError where it carries no words."""
    drawn = ElementTree.fromstring(picture)  # noqa: S314 -- made here, and its hash is in dvc.lock or git
    title, caption = (drawn.findtext(f".//{_DUBLIN_CORE}{part}") for part in ("title", "description"))
    if not title or not caption:
        raise InputError(f"{name}.svg: carries no title and caption; draw it again")
    return Figure(name, title, caption, _data_image(picture))


def recorded(place: int, picture: str) -> Figure:
    """Return a figure of the record's accuracies, the first of which has no number; `picture` is an SVG text."""
    drawn = figure(f"recorded{place or ''}", picture)
    return replace(drawn, title=f"The record: {drawn.title[0].lower()}{drawn.title[1:]}")


def _data_image(picture: str) -> str:
    """Return an SVG text as a `data:` address: the same picture to a hundredth of a point, in half as many bytes."""
    return f"data:image/svg+xml,{quote(scourString(picture, _SCOUR), safe=_SAFE)}"
