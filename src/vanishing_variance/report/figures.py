"""The figures of the page: PNG files beside it, with the title and the caption that they carry."""

import os
from dataclasses import dataclass
from pathlib import Path

from PIL.PngImagePlugin import PngImageFile

from vanishing_variance.harness.errors import InputError


@dataclass(frozen=True)
class Figure:
    """A picture at an address; `title` is its subject, also for who cannot see it, `caption` says n and the band."""

    address: str
    title: str
    caption: str


def read_figure(path: Path, page: Path) -> Figure:
    """Return a figure of `figures.drawing.write_figure`, its address relative to the page.

    Raises InputError when it is missing, damaged or carries no words.
    """
    address = Path(os.path.relpath(path, page.parent)).as_posix()
    try:
        with PngImageFile(path) as picture:
            words = picture.text
        return Figure(address, str(words["Title"]), str(words["Description"]))
    except (OSError, SyntaxError, KeyError) as problem:
        raise InputError(f"{path}: cannot be read as a figure: {problem}; draw it again, or git checkout it") from None
