"""Markdown tables."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.statistics.intervals import interval

MISSING = "–"
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# A heading, the names of the columns, and the rows: a name, and a text a column.
Groups = list[tuple[str, Sequence[str], list[tuple[str, list[str]]]]]


def power(length: int, how: str = "2^{}") -> str:
    """Return a length as a power of two where it is one."""
    exponent = int(length).bit_length() - 1
    return how.format(exponent) if length == 2**exponent else str(length)


def drawn_power(length: int) -> str:
    """Return a length as text, a power of two where it is one: pictures have no raised text but these letters."""
    base, _, exponent = power(length).partition("^")
    return base + exponent.translate(_RAISED)


def estimate(
    how: str, value: float | None, low: float | None = None, high: float | None = None, *, unit: str = ""
) -> str:
    """Return a number in Python's format `how`, with its interval where it has one; – where there is none."""
    if pd.isna(value):
        return MISSING
    return f"{value:{how}}{unit}" + ("" if pd.isna(low) else f" [{low:{how}}, {high:{how}}]")


def mean_estimate(values: Float[np.ndarray, " S"], how: str, unit: str = "") -> str:
    """Return the mean over seeds, with its 95% t interval where there are two or more."""
    mean, *ends = interval(values)
    return estimate(how, mean, *(ends if len(values) > 1 else []), unit=unit)


def row(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def definitions(meanings: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines of a list: a name and its meaning each."""
    return [f"- **{name}**: {meaning}" for name, meaning in meanings]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table: a column of text, the others of numbers."""
    return [row(line) for line in (head, ["---", *["--:"] * (len(head) - 1)], *rows)]


def grouped(groups: Groups) -> Iterator[str]:
    """Yield the lines of a table a group, below its heading."""
    for heading, head, rows in groups:
        yield from ("", f"**{heading}**", "", *table(["", *head], ([name, *cells] for name, cells in rows)))
