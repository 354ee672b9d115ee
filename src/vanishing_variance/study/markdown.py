"""Pieces of Markdown tables."""

from collections.abc import Sequence


def power(length: int, how: str = "2^{}") -> str:
    """Return a length as a power of two where it is one."""
    exponent = int(length).bit_length() - 1
    return how.format(exponent) if length == 2**exponent else str(length)


def row(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
