"""Tables of the page: cells, some of them shaded."""

from collections.abc import Sequence
from dataclasses import dataclass

from vanishing_variance.harness.markdown import Groups
from vanishing_variance.report.formats import MISSING, number


@dataclass(frozen=True)
class Cell:
    """A text; and, where it is shaded, to which side (`above`, `below`) and how strongly, 0 to 1."""

    text: str
    side: str = ""
    share: float = 0.0


# A name, and a cell a column.
Row = tuple[str, Sequence[Cell]]


@dataclass(frozen=True)
class Table:
    """Groups of rows, each with its heading; `corner` says what the head is, and `folded` has rows that few need.

    `scale` is what the strongest shade stands for, 0 where none is shaded.
    """

    anchor: str
    title: str
    note: str
    head: Sequence[str]
    groups: Sequence[tuple[str, Sequence[Row]]]
    scale: float = 0.0
    corner: str = ""
    folded: "Table | None" = None


def grouped(anchor: str, title: str, note: str, groups: Groups) -> Table:
    """Return a table of texts; a group that lacks a column has dashes there."""
    head = list(dict.fromkeys(name for _, names, _ in groups for name in names))
    made = []
    for heading, names, rows in groups:
        by_name = [(name, dict(zip(names, texts, strict=True))) for name, texts in rows]
        made.append((heading, [(name, [Cell(of.get(one, MISSING)) for one in head]) for name, of in by_name]))
    return Table(anchor, title, note, head, made)


def shaded(difference: float, scale: float) -> Cell:
    """Return a difference in percentage points, shaded by its sign and in proportion to its size: fully at `scale`."""
    text = number(difference, "+.1f")
    if text == MISSING or difference == 0:
        return Cell(text)
    return Cell(text, "above" if difference > 0 else "below", round(abs(difference) / scale, 3))
