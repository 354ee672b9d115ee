"""The shares of the lost accuracy that interventions recover and reproduce, as a table of the page."""

import pandas as pd

from vanishing_variance.report.cells import Cell, Row, Table
from vanishing_variance.report.formats import MISSING
from vanishing_variance.study.shares_table import NOTE, groups


def interventions(shares: pd.DataFrame) -> Table:
    """Return the table of metrics/interventions-shares.csv: a group a task and range, a column a variant.

    What acts on O acts before the normaliser here; metrics/interventions.md has the rows after it too.
    """
    found = groups(shares[shares["where"] != "after"])
    head = list(dict.fromkeys(norm for _, norms, _ in found for norm in norms))
    made = []
    for heading, norms, rows in found:
        by_norm = [(name, dict(zip(norms, cells, strict=True))) for name, cells in rows]
        made.append((heading, [Row(name, [Cell(of.get(norm, MISSING)) for norm in head]) for name, of in by_norm]))
    return Table("interventions", "What interventions recover or reproduce of the lost accuracy (%)", NOTE, head, made)
