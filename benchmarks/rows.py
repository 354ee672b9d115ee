"""Tables of measurements in metrics/, to which several processes may add."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from vanishing_variance.harness.frames import read_csv, write_csv
from vanishing_variance.harness.locks import exclusive_lock


def read_rows(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows that are there, none where there is no file."""
    return read_csv(path, *columns) if path.exists() else pd.DataFrame(columns=[*columns])


def add_rows(path: Path, made: pd.DataFrame, columns: Sequence[str]) -> None:
    """Add rows to those that are there by now: another process may have added some while these were measured."""
    with exclusive_lock(str(path)):
        there = read_rows(path, columns)
        write_csv(path, pd.concat([there, made], ignore_index=True)[[*columns]] if len(there) else made[[*columns]])
