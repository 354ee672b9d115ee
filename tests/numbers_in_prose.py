"""Numbers in README.md and docs/results.md against the files in git that they come from: `make check-numbers`.

A tag, an HTML comment, which is not rendered, follows the numbers that it vouches for:

    +4.0 [3.1, 4.9]<!-- studies/paper-scale/tables/gains.md: dictionary, short, ln − none, last -> beyond -->

Before the colon is a file, then cells of one of its lines; in Markdown also parts of the heading above it, in JSON the
keys above it; "column cell" where a cell alone is not enough. After the arrow are first words of columns, between
semicolons. The numbers before the tag, since the tag before it, in the same paragraph or row, must be among the numbers
of these cells, in their order, rounded to as many digits: those with a decimal or a percent sign, and any right before
the tag. Where none is in brackets, none may be the bound of an interval.
"""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/results.md")
# No results: confidence levels, the exponent that the paper expects, versions.
EXEMPT = (r"9[05]% (?:prediction )?intervals?", r"N\^−0\.5", r"Python 3\.11", r"arXiv \S+", r"[A-Za-z]+-\d\S*")
# Examples, links, and the block of README.md that a program writes (tests/test_readme.py).
ELSEWHERE = (r"^```.*?^```", r"`[^`]*`", r"\]\([^)]*\)", r"<!-- answer:.*?<!-- end of answer -->")
TAG = r"<!-- (?P<file>[\w/.-]+): (?P<cells>[^>]*) -> (?P<columns>[^>]*) -->"
NUMBER = r"[+−-]?\d+(?:,\d{3})*(?:\.\d+)?%?"
END = r"\n(?=\s*\n|- |\d\. |\||#)"  # of a paragraph, a point of a list, a row of a table
SKIP = "|".join((*ELSEWHERE, *EXEMPT))
TOKEN = re.compile(rf"(?P<skip>{SKIP})|(?P<tag>{TAG})|(?P<number>{NUMBER})|(?P<end>{END})", re.S | re.M)
Row = list[tuple[str, str]]  # (column, cell)


def problems(page: str) -> Iterator[str]:
    """Yield a line for each number without a tag, and for each tag whose file has other numbers."""
    for tag, numbers in tagged(page):
        line = page.count("\n", 0, (tag or numbers[0]).start()) + 1
        shown = " ".join(number[0] for number in numbers)
        if tag is None:
            yield f"line {line}: {shown}: no tag"
            continue
        covered = page[numbers[0].start() : tag.start()] if numbers else ""
        values = selected(tag["file"], tag["cells"], tag["columns"], bounds="[" in covered)
        if not numbers or not in_order([number[0] for number in numbers], values):
            has = " ".join(f"{value:g}" for value in values[:20]) or "no such line"
            yield f"line {line}: {shown or 'no number'}: {tag['file']} has {has}"


def tagged(page: str) -> Iterator[tuple[re.Match[str] | None, list[re.Match[str]]]]:
    """Yield each tag with its numbers, and None with those that have none."""
    numbers: list[re.Match[str]] = []
    for token in TOKEN.finditer(page + "\n\n"):
        if token["number"] and (re.search("[.%]", token[0]) or page.startswith("<!--", token.end())):
            numbers.append(token)
        if token["tag"]:
            yield token, numbers
            numbers = []
        if token["end"] and numbers:
            yield None, numbers
            numbers = []


def selected(file: str, cells: str, columns: str, *, bounds: bool) -> list[float]:
    """Return the numbers that the lines with these cells have in these columns, with or without those in brackets."""
    wanted = {cell.strip() for cell in cells.split(",")}
    names = "|".join(rf"{re.escape(name)}(?!\w)" for name in columns.split("; "))
    values = []
    for row in rows(file):
        parts = [part.strip() for column, cell in row for part in (cell, f"{column} {cell}", *cell.split(","))]
        if wanted.issubset(parts):
            chosen = " ".join(cell for column, cell in row if re.match(names, column))
            text = re.sub(r"2\^\d+" if bounds else r"2\^\d+|\[[^\]]*\]", "", chosen)
            values += re.findall(r"[+-]?\d+(?:\.\d+)?(?:e[+-]\d+)?", text.replace("−", "-"))
    return [float(value) for value in values]


def in_order(numbers: list[str], values: list[float]) -> bool:
    """Return whether the numbers are some of the values, in their order."""
    left = iter(values)
    return all(any(_rounded(number, value) for value in left) for number in numbers)


def _rounded(number: str, value: float) -> bool:
    """Return whether the number is the value when it is rounded; a percentage may be a share in the file."""
    digits = number.rstrip("%").replace("−", "-").replace(",", "")
    tolerance = 0.5000001 * 10.0 ** -len(digits.partition(".")[2])
    factors = (1, 100) if number.endswith("%") else (1,)
    return any(abs(value * factor - float(digits)) <= tolerance for factor in factors)


@cache
def rows(file: str) -> list[Row]:
    """Return the lines of a file's tables."""
    text = in_git(file)
    if file.endswith(".json"):
        return list(_json_rows(json.loads(text or "{}")))
    if file.endswith(".csv"):
        return [list(line.items()) for line in csv.DictReader(text.splitlines())]
    return list(_markdown_rows(text))


def in_git(file: str) -> str:
    """Return a file as it is committed or staged, since the working tree's may be of another experiment; or nothing."""
    show = ["git", "show", f":{file}"]
    return subprocess.run(show, cwd=ROOT, capture_output=True, encoding="utf-8", check=False).stdout


def _json_rows(document: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[Row]:
    """Yield a row for each object, with its keys as columns, and the keys above it."""
    inner = {key: value for key, value in document.items() if isinstance(value, dict)}
    yield [*(("", key) for key in path), *((key, str(document[key])) for key in document if key not in inner)]
    for key, value in inner.items():
        yield from _json_rows(value, (*path, key))


def _markdown_rows(text: str) -> Iterator[Row]:
    """Yield the rows of all tables, with the heading above each."""
    heading, header = "", list[str]()
    for line in text.splitlines():
        cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            header = []
            heading = cells[0].strip("# ") if line.startswith(("#", "**")) else heading
        elif not header:
            header = cells
        else:
            yield [("", heading), *zip(header, cells, strict=True)]


def main() -> None:
    said = [f"{page}, {problem}" for page in PAGES for problem in problems((ROOT / page).read_text(encoding="utf-8"))]
    print("\n".join(said) or "every number is in the file that its tag names")
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
