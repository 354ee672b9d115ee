"""How much of the differences in accuracy each quantity inside the models explains, as a table."""

import pandas as pd

from vanishing_variance.report.cells import Cell, Row, Table
from vanishing_variance.report.formats import MISSING, interval, number

_NOTE = (
    "R², the fraction of the variance of accuracy that goes with the quantity of the column, and in brackets its 95% "
    "interval. A row says which models are taken together, and how."
)


def explained(frame: pd.DataFrame) -> Table:
    """`frame`: metrics/explained.csv. A group a task and range, a row a choice of models, a column a quantity."""
    quantities = list(dict.fromkeys(frame["quantity"]))
    groups = []
    for (task, range_), of in frame.groupby(["task", "range"], sort=False):
        rows = [
            Row(f"{models}, {grouping}", _cells(one, quantities))
            for (models, grouping), one in of.groupby(["models", "grouping"], sort=False)
        ]
        groups.append((f"{task}, trained on the {range_} range", rows))
    return Table("mechanism", "What explains the accuracy", _NOTE, quantities, groups)


def _cells(of: pd.DataFrame, quantities: list[str]) -> list[Cell]:
    numbers = zip(of["quantity"], of["r2"], of["low"], of["high"], strict=True)
    texts = {quantity: _text(*explains) for quantity, *explains in numbers}
    return [Cell(texts.get(name, MISSING)) for name in quantities]


def _text(r2: float, low: float, high: float) -> str:
    bounds = interval(low, high, ".2f")
    return number(r2, ".2f") + ("" if bounds == MISSING else f" ({bounds})")
