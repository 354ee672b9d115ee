"""Table of the page: how much of the differences in accuracy each quantity inside the models explains."""

import pandas as pd

from vanishing_variance.report.cells import Cell, Row, Table
from vanishing_variance.study.attribution_table import HEAD, NOTE, groups


def explained(frame: pd.DataFrame) -> Table:
    """Return the table of metrics/explained.csv: a group a task and range, a row a quantity, a column a grouping."""
    made = [
        (heading, [Row(title, [Cell(text) for text in texts]) for title, texts in rows])
        for heading, rows in groups(frame)
    ]
    return Table("mechanism", "What explains the accuracy (%)", NOTE, HEAD, made)
