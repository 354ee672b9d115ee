"""Result files that git says differ: figures, and others."""

from collections.abc import Iterable
from pathlib import PurePosixPath

FIGURES = (".png", ".svg")
WORDS = {"A": "added", "D": "removed", "M": "changed"}


def figures(differing: Iterable[tuple[str, str]]) -> dict[str, dict[str, list[str]]]:
    """changed | added | removed -> the figure, its path without suffix -> the suffixes of which that is true.

    `differing`: (letter of `git diff --name-status`, path).
    """
    found: dict[str, dict[str, list[str]]] = {word: {} for word in ("changed", "added", "removed")}
    for letter, name in sorted(differing, key=lambda one: one[1]):
        path = PurePosixPath(name)
        if path.suffix in FIGURES:
            stem = str(path.with_suffix(""))
            found[WORDS.get(letter, "changed")].setdefault(stem, []).append(path.suffix.removeprefix("."))
    return {word: stems for word, stems in found.items() if stems}


def others(differing: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """What else differs: (how, path)."""
    return [(WORDS.get(letter, "changed"), path) for letter, path in differing if not path.endswith(FIGURES)]
