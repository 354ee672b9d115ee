"""Numbers as text: estimates with their intervals, lengths as powers of two, tables in Markdown."""

from collections.abc import Iterable, Sequence

import pandas as pd

MISSING = "–"
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(length: int, how: str = "2^{}") -> str:
    """Return a length as a power of two where it is one."""
    exponent = int(length).bit_length() - 1
    return how.format(exponent) if length == 2**exponent else f"{length:.0f}"


def drawn_power(length: int) -> str:
    """Return a length for a picture, a power of two in raised digits where it is one."""
    base, _, exponent = power(length).partition("^")
    return base + exponent.translate(_RAISED)


def estimate(
    how: str, value: float | None, low: float | None = None, high: float | None = None, *, unit: str = ""
) -> str:
    """Return a number in Python's format `how`, with its interval where it has one; – where there is none."""
    if pd.isna(value):
        return MISSING
    text = f"{value:{how}}{unit}"
    return text if pd.isna(low) else f"{text} [{low:{how}}, {high:{how}}]"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return a table whose first columns, as many as `texts`, are aligned to the left, the others to the right."""
    return table_of(pd.DataFrame(rows, columns=list(head)), texts)


def table_of(cells: pd.DataFrame, texts: int = 1) -> str:
    """Return the same of a frame of texts, below the names of its columns."""
    escaped = cells.replace(r"\|", r"\\|", regex=True)
    alignment = ["left"] * texts + ["right"] * (cells.shape[1] - texts)
    return str(escaped.to_markdown(index=False, disable_numparse=True, colalign=alignment))
