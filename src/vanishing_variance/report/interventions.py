"""The shares of the lost accuracy that interventions recover and reproduce, as a table of the page."""

import pandas as pd

from vanishing_variance.report.cells import Table, grouped
from vanishing_variance.study.shares_table import NOTE, groups


def interventions(shares: pd.DataFrame) -> Table:
    """Return the table of metrics/interventions-shares.csv: a group a task and range, a column a variant.

    What acts on O acts before the normaliser here; metrics/interventions.md has the rows after it too.
    """
    title = "What interventions recover or reproduce of the lost accuracy (%)"
    return grouped("interventions", title, NOTE, groups(shares[shares["where"] != "after"]))
