"""Numbers in README.md and docs/results.md against the files in git that `numbers.yaml` names: `make check-numbers`."""

import csv
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
# No results: confidence levels, the exponent that the paper expects, versions.
EXEMPT = (r"9[05]%(?:\s+prediction)?\s+intervals?", r"N\^−0\.5", r"Python\s+3\.11", r"arXiv\s+\S+", r"[A-Za-z]+-\d\S*")
# Examples, links, and the block of README.md that a program writes (tests/test_readme.py).
ELSEWHERE = (r"^```.*?^```", r"`[^`]*`", r"\]\([^)]*\)", r"<!-- answer:.*?<!-- end of answer -->")
WHOLE = r"[+−-]?\d+(?:,\d{3})*"
# These need an entry: numbers with a decimal or a percent sign, and whole ones in brackets that are no link's.
CLAIM = rf"{WHOLE}(?:\.\d+%?|%)|(?<=\[){WHOLE}(?=,\s)|(?<=,\s){WHOLE}(?=\](?!\())"
TOKEN = re.compile(rf"(?P<skip>{'|'.join((*ELSEWHERE, *EXEMPT))})|(?P<claim>{CLAIM})|{WHOLE}", re.S | re.M)
Row = list[tuple[str, str]]  # (column, cell)
Entry = dict[str, Any]  # words, from, cells, columns


def problems(page: str, entries: list[Entry]) -> Iterator[str]:
    """Yield a line for each entry that page and source do not agree with, and each number that is not in one entry."""
    covered = Counter[int]()
    for entry in entries:
        places = list(re.finditer(r"\s+".join(map(re.escape, entry["words"].split())), page))
        if len(places) != 1:
            yield f'"{entry["words"]}": stands {len(places)} times on the page'
            continue
        numbers = numbers_within(page, *places[0].span())
        values = selected(entry)
        covered.update(number.start() for number in numbers)
        if not numbers or not in_order([number[0] for number in numbers], values):
            has = " ".join(f"{value:g}" for value in values[:20]) or "no such line"
            yield f'"{entry["words"]}": {entry["from"]} has {has}'
    for number in numbers_within(page, 0, len(page)):
        if covered[number.start()] != 1:
            line = page.count("\n", 0, number.start()) + 1
            yield f"line {line}: {number[0]}: in {covered[number.start()]} entries of tests/numbers.yaml"


def numbers_within(page: str, start: int, end: int) -> list[re.Match[str]]:
    """Return the numbers in a part of a page that need an entry, or all where none does."""
    tokens = [token for token in TOKEN.finditer(page) if not token["skip"]]
    inside = [token for token in tokens if start <= token.start() and token.end() <= end]
    return [token for token in inside if token["claim"]] or inside


def selected(entry: Entry) -> list[float]:
    """Return the numbers in an entry's columns of its lines, and, if its words have a bracket, those in brackets."""
    cells = entry["cells"]
    names = "|".join(rf"{re.escape(name)}(?!\w)" for name in entry["columns"])
    left_out = r"2\^\d+" if "[" in entry["words"] else r"2\^\d+|\[[^\]]*\]"
    values = []
    for wanted in cells if isinstance(cells[0], list) else [cells]:
        for row in rows(entry["from"]):
            parts = [part.strip() for column, cell in row for part in (cell, f"{column} {cell}", *cell.split(","))]
            if set(wanted).issubset(parts):
                text = re.sub(left_out, "", " ".join(cell for column, cell in row if re.match(names, column)))
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


def entries_by_page() -> dict[str, list[Entry]]:
    """Return the entries of each page; every scalar is a string."""
    return yaml.load((ROOT / "tests/numbers.yaml").read_text(encoding="utf-8"), yaml.BaseLoader)


def main() -> None:
    said = []
    for page, entries in entries_by_page().items():
        said += [f"{page}, {problem}" for problem in problems((ROOT / page).read_text(encoding="utf-8"), entries)]
    print("\n".join(said) or "every number is in the file that tests/numbers.yaml names")
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
