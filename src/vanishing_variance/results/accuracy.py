"""Raw accuracies, metrics/accuracy.csv: fractions there, percent here."""

from typing import Any, TypeVar

import pandas as pd

Indexed = TypeVar("Indexed", pd.DataFrame, "pd.Series[Any]")

COLUMNS = ["task", "range", "norm", "seed", "rule", "length", "accuracy"]


def rows(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return the rows that have these values in the columns of these names; `range_` is `range`."""
    chosen = pd.Series(True, index=frame.index)
    for column, value in values.items():
        chosen &= frame[column.rstrip("_")] == value
    return frame[chosen]


def by_seed(accuracy: pd.DataFrame, task: str, range_: str, norm: str, rule: str) -> pd.DataFrame:
    """Return accuracies in percent, one row a seed and one column a length, both increasing."""
    variant = rows(accuracy, task=task, range_=range_, norm=norm, rule=rule)
    return variant.pivot(index="seed", columns="length", values="accuracy") * 100


def of_both(ours: Indexed, theirs: Indexed) -> tuple[Indexed, Indexed]:
    """Return the rows of the seeds that both have, in the same order."""
    both = theirs.index.intersection(ours.index)
    return ours.loc[both], theirs.loc[both]
