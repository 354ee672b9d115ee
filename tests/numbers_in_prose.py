"""Numbers in README.md and docs/results.md against the files in git that they come from: `make check-numbers`.

A tag, an HTML comment that is not rendered, follows the numbers that it vouches for:

    +4.0 [3.1, 4.9]<!-- metrics/paper-scale/tables/gains.md: dictionary, short, ln − none, plain -->

Before the colon is a file; after it are cells that one of its lines must have. Each number with a decimal or a percent
sign since the tag before, in the same paragraph, must be one of the numbers of that line, rounded to as many digits, or
100 times one. In a JSON file a line is a key, dotted, with its value; in others a line is split at | or commas.
"""

import json
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/results.md")
TAG = re.compile(r"<!-- (?P<file>[\w/.-]+\.(?:md|csv|json)): (?P<cells>[^>]*?) -->", re.S)
NUMBER = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?%?")
GENERATED = re.compile(r"<!-- answer:.*?<!-- end of answer -->", re.S)


def problems(page: str, root: Path = ROOT) -> Iterator[str]:
    """Yield a line for each number of a page that no tag vouches for, or that is not in the line of its tag."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
    for paragraph in re.split(r"\n(?=\s*\n|- |\d\. |\| |#)", GENERATED.sub("", text)):
        tags = list(TAG.finditer(paragraph))
        starts = [0, *(tag.end() for tag in tags)]
        for tag, start in zip(tags, starts, strict=False):
            numbers = stated(paragraph[start : tag.start()])
            found = line_numbers(root / tag["file"], cells(tag["cells"]))
            if found is None:
                yield f"{tag['file']} has no line with {tag['cells']}"
            elif not numbers:
                yield f"no number before the tag {tag['file']}: {tag['cells']}"
            else:
                yield from (f"{number}: {tag['file']} has {found}" for number in numbers if not vouched(number, found))
        yield from (f"{number}: no tag" for number in stated(paragraph[starts[-1] :]))


def stated(text: str) -> list[str]:
    """Return the numbers that are results: with a decimal or a percent sign; not in links, code or names."""
    plain = re.sub(r"\]\([^)]*\)|`[^`]*`|<!--.*?-->|arXiv[: ]\S*|https?://\S+|[A-Za-z]+[-\d.]*\d\S*", " ", text, flags=re.S)
    return [number for number in NUMBER.findall(plain) if "." in number or number.endswith("%")]


def cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.split(",")]


def vouched(number: str, found: list[float]) -> bool:
    """Return whether one of the numbers, or 100 times it, is this when it is rounded."""
    digits = number.rstrip("%").replace("−", "-").replace(",", "")
    decimals = len(digits.partition(".")[2])
    shown = abs(float(digits))
    off = 0.5000001 * 10**-decimals
    return any(abs(abs(value) * factor - shown) <= off for value in found for factor in (1, 100))


def line_numbers(path: Path, wanted: list[str]) -> list[float] | None:
    """Return the numbers of the lines that have these cells; None where there is no such line."""
    found: list[float] = []
    lines = [line for line in _lines(path) if set(wanted) <= set(line)]
    for line in lines:
        for cell in line:
            if cell not in wanted:
                found += [float(number.replace("−", "-").rstrip("%")) for number in re.findall(r"[+−-]?\d+(?:\.\d+)?(?:e-?\d+)?", cell)]
    return found if lines else None


def _lines(path: Path) -> Iterator[list[str]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        for key, value in _flat(json.loads(text)):
            yield [*key, str(value)]
        return
    separator = "," if path.suffix == ".csv" else "|"
    for line in text.splitlines():
        yield [cell.strip().strip("*") for cell in line.strip("|").split(separator)]


def _flat(document: Any, key: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not isinstance(document, dict):
        yield key, document
        return
    for name, value in document.items():
        yield from _flat(value, (*key, name))


def main() -> None:
    said = [f"{page}: {problem}" for page in PAGES for problem in problems((ROOT / page).read_text(encoding="utf-8"))]
    print("\n".join(said) or "every number is in the file that its tag names")
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
