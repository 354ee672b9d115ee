"""Tidy frames, as parquet between stages and as CSV in git."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from vanishing_variance.errors import InputError
from vanishing_variance.io.files import write, write_text


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """A tidy frame as parquet."""
    write(path, lambda to: frame.to_parquet(to, index=False))


def read_frame(path: Path) -> pd.DataFrame:
    """A tidy frame from parquet. Raises InputError when the file is missing or damaged."""
    try:
        return pd.read_parquet(path)
    except (OSError, pa.ArrowInvalid) as problem:
        raise InputError(f"{path}: cannot be read as parquet: {problem}; delete it and run dvc repro") from None


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """A tidy frame as CSV, numbers in full."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def read_csv(path: Path) -> pd.DataFrame:
    """A tidy frame from CSV; `none` is a name, not a missing value. Raises InputError when the file is missing."""
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror}") from None
