"""Numbers of README.md and docs/results.md against their sources in git: `make check-numbers`.

A number with its interval is in a table of a file that its section links. One alone, with a decimal or a percent sign,
is in rows that a comment of its paragraph, list item or table names by the file, cells and, after >, columns:

    <!-- studies/best/board.md: argmax|ln-long|none-long > beyond (pp) -->

Markdown's rows have the heading above them as a cell, those of JSON the keys above them. README's numbers are in the
sections of docs/results.md that their paragraph links.
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
# No results: confidence levels, the exponent that the paper expects, versions, code, links, comments.
EXEMPT = (r"9[05]%(?:\s+prediction)?\s+intervals?", r"N\^−0\.5", r"Python\s+3\.11", r"[A-Za-z]+-\d\S*")
EXEMPT += (r"^```.*?^```", r"`[^`]*`", r"\]\([^)]*\)", r"<!--.*?-->")
# What a program writes in README.md (tests/test_readme.py).
WRITTEN = re.compile(r"<!-- answer:.*?<!-- end of answer -->", re.S)
WHOLE = r"[+−-]?\d+(?:,\d{3})*"
NUMBER = rf"{WHOLE}(?:\.\d+)?"
INTERVAL = rf"(?:{NUMBER}%?\s+)?\[{NUMBER},\s+{NUMBER}\](?!\()"
TOKEN = re.compile(rf"(?:{'|'.join(EXEMPT)})|(?P<number>{INTERVAL}|{WHOLE}(?:\.\d+%?|%))", re.S | re.M)
COMMENT = re.compile(r"<!-- (?P<file>\S+): (?P<rows>.*?) -->", re.S)
Row = list[tuple[str, str]]  # (column, cell)


def problems(text: str) -> Iterator[str]:
    """Yield a line for each number of a page that is in none of its sources, and for what its comments name in vain."""
    for section in WRITTEN.sub("", text).split("\n## "):
        linked = [row_text(row) for file in linked_by(section) for row in rows(file)]
        for block in re.split(r"\n\s*\n|\n(?=- |\d\. )", section):
            named = list(named_by(block))
            yield from (f"no row has {name}" for name, texts in named if not any(texts))
            sources = [text for _, texts in named for text in texts]
            said = said_by_sections(block)
            for number in numbers(block):
                tables = sources + (linked if "[" in number else [])
                if not ({number, f"+{number}"} & said or any(is_in(number, text) for text in tables)):
                    yield f'"{number}" is in no source of "{" ".join(block.split())[:60]}…"'


def numbers(text: str) -> list[str]:
    """Return the numbers that need a source, each with its interval."""
    return [" ".join(token["number"].split()) for token in TOKEN.finditer(text) if token["number"]]


def is_in(number: str, text: str) -> bool:
    """Return whether a text has a number, or a number and its interval, rounded to as many digits.

    A percentage may be a share there; a number without its interval is no bound of one there.
    """
    parts = re.findall(rf"{NUMBER}%?", number)
    found = values(text if "[" in number else re.sub(r"\[[^\]]*\]", "", text))
    windows = zip(*(found[start:] for start in range(len(parts))), strict=False)
    return any(all(map(is_rounded, parts, window)) for window in windows)


@cache
def values(text: str) -> list[float]:
    """Return the numbers of a row; 2^4 is a length."""
    found = re.findall(rf"(?<![\w.]){NUMBER}(?:e[+-]\d+)?", re.sub(r"2\^\d+", "", text))
    return [as_float(number) for number in found]


@cache
def as_float(number: str) -> float:
    return float(number.rstrip("%").replace("−", "-").replace(",", ""))


def is_rounded(part: str, value: float) -> bool:
    tolerance = 0.5000001 * 10.0 ** -len(part.rstrip("%").partition(".")[2])
    factors = (1, 100) if part.endswith("%") else (1,)
    return any(abs(value * factor - as_float(part)) <= tolerance for factor in factors)


def linked_by(section: str) -> list[str]:
    """Return the files with tables that a section links."""
    return re.findall(r"\]\((?:\.\./)?((?:studies|metrics)/[^)#]+\.(?:md|csv|json))\)", section)


def named_by(block: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what the comments of a block name, and the texts of these rows."""
    for comment in COMMENT.finditer(block):
        for named in " ".join(comment["rows"].split()).split("; "):
            cells, _, columns = named.partition(" > ")
            chosen = [row for row in rows(comment["file"]) if set(_parts(cells)) <= {cell for _, cell in row}]
            yield f"{comment['file']}: {named}", [row_text(row, _parts(columns)) for row in chosen]


def _parts(named: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in named.split("|"))


def row_text(row: Row, columns: tuple[str, ...] = ("",)) -> str:
    """Return the cells of the columns whose names begin so."""
    return " | ".join(cell for column, cell in row if column and column.startswith(columns))


def said_by_sections(block: str) -> set[str]:
    """Return the numbers, with and without intervals, of the sections of docs/results.md that a block links."""
    said = set()
    for section in (ROOT / "docs/results.md").read_text(encoding="utf-8").split("\n## "):
        heading = section.partition("\n")[0].lower().replace(" ", "-")
        if f"](docs/results.md#{re.sub(r'[^a-z-]', '', heading)})" in block:
            said |= {text for number in numbers(section) for text in (number, number.partition(" [")[0])}
    return said


@cache
def rows(file: str) -> list[Row]:
    """Return the lines of a file's tables."""
    text = in_git(file)
    if file.endswith(".json"):
        return list(_json_rows(json.loads(text)))
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
            header = [name or "label" for name in cells]
        else:
            above = [("", part) for part in heading.split(", ")]
            yield [*above, *zip(header, cells, strict=True)]


def main() -> None:
    found = []
    for page in PAGES:
        found += [f"{page}: {problem}" for problem in problems((ROOT / page).read_text(encoding="utf-8"))]
    print("\n".join(found) or "every number is in its source")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
