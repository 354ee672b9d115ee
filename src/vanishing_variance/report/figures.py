"""The figures of the page: files beside it, with the title and the caption that they carry."""

from dataclasses import dataclass, replace
from itertools import chain
from xml.etree import ElementTree

from vanishing_variance.harness.errors import InputError

# What is shown, by section of the page.
SECTIONS = {
    "cause": ("interventions", "mechanism"),
    "curves": ("accuracy", "accuracy-long"),
    "figures": ("figure1", "figure2", "figure3", "figure4", "proposition"),
    "losses": ("loss", "loss-long"),
}
NAMES = tuple(chain(*SECTIONS.values()))
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


@dataclass(frozen=True)
class Figure:
    """A picture at an address; `title` is what it shows, also for who cannot see it, `caption` says n and the band."""

    name: str
    title: str
    caption: str
    address: str


def folder(name: str) -> str:
    """Return the folder of a figure, below plots/figures."""
    return name if name in ("figure1", "interventions", "mechanism") else "results"


def figure(name: str, picture: str) -> Figure:
    """Return a figure of `figures.images.write_figure`, an SVG text. Raises InputError where it carries no words."""
    return _figure(name, picture, f"../figures/{folder(name)}/{name}.svg")


def recorded(record: str, name: str, picture: str) -> Figure:
    """Return a figure of the record in metrics/`record`; `picture` is an SVG text."""
    drawn = _figure(f"recorded-{name}", picture, f"../../metrics/{record}/plots/{name}.svg")
    return replace(drawn, title=f"The record: {drawn.title[0].lower()}{drawn.title[1:]}")


def _figure(name: str, picture: str, address: str) -> Figure:
    drawn = ElementTree.fromstring(picture)  # noqa: S314 -- made here, and its hash is in dvc.lock or git
    title, caption = (drawn.findtext(f".//{_DUBLIN_CORE}{part}") for part in ("title", "description"))
    if not title or not caption:
        raise InputError(f"{name}.svg: carries no title and caption; draw it again")
    return Figure(name, title, caption, address)
