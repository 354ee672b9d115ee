"""Table of the page: how much of the differences in accuracy each quantity inside the models explains."""

import pandas as pd

from vanishing_variance.report.cells import Table, grouped
from vanishing_variance.study.attribution_table import NOTE, groups


def explained(frame: pd.DataFrame) -> Table:
    """Return the table of metrics/explained.csv: a group a task and range, a row a quantity, a column a grouping."""
    return grouped("mechanism", "What explains the accuracy (%)", NOTE, groups(frame))
