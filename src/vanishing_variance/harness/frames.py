"""Tidy frames, as parquet between stages and as CSV in git."""

import csv
import hashlib
from io import BytesIO, StringIO
from pathlib import Path

import pandas as pd
import pyarrow as pa

from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.files import write_bytes, write_text

_SHA256 = hashlib.sha256().digest_size
REMEDY = "git checkout it, or delete it and run dvc repro"


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write a tidy frame as parquet, with its checksum before the footer, where no reader of parquet looks.

    Parquet has checksums of its own, but not of the footer: a flipped bit there can give other columns.
    """
    content = frame.to_parquet(None, index=False)
    place = _before_footer(content)
    write_bytes(path, content[:place] + hashlib.sha256(content).digest() + content[place:])


def read_frame(path: Path, *columns: str) -> pd.DataFrame:
    """Return a tidy frame from parquet, with these columns at least.

    Raises InputError when the file is missing or damaged.
    """
    try:
        content = path.read_bytes()
        place = _before_footer(content)
        checksum, content = content[place - _SHA256 : place], content[: place - _SHA256] + content[place:]
        if place < _SHA256 or hashlib.sha256(content).digest() != checksum:
            raise ValueError("its checksum does not fit")
        return _having(columns, pd.read_parquet(BytesIO(content)))
    except (OSError, ValueError, pa.ArrowException) as problem:
        raise _unreadable(path, "parquet", problem, "delete it and run dvc repro") from None


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a tidy frame as CSV, numbers in full."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def read_csv(path: Path, *columns: str) -> pd.DataFrame:
    """Return a tidy frame from CSV, with these columns at least; `none` is a name, not a missing value.

    Raises InputError when the file is missing, ends within a line, has a line that is longer or shorter than the first,
    or something else among numbers. That a number is another one, nothing here can tell; dvc.lock does.
    """
    try:
        return parse_csv(path.read_text(encoding="utf-8"), path, *columns)
    except (OSError, ValueError) as problem:
        raise _unreadable(path, "CSV", problem, REMEDY) from None


def parse_csv(text: str, path: Path, *columns: str) -> pd.DataFrame:
    """Return the tidy frame of a CSV file's text, as `read_csv`; `path` is what an error names."""
    try:
        if not text.endswith("\n"):
            raise ValueError("its last line is cut off" if text else "it is empty")
        rows = list(csv.reader(StringIO(text), strict=True))
        for number, row in enumerate(rows, start=1):
            if len(row) != len(rows[0]):
                raise ValueError(f"line {number} has {len(row)} values, the first has {len(rows[0])}")
        frame = _having(columns, pd.read_csv(StringIO(text), keep_default_na=False, na_values=[""]))
        for name in frame.select_dtypes(exclude="number"):
            values = frame[name].dropna()
            others = values[pd.to_numeric(values, errors="coerce").isna()]
            if 0 < len(others) < len(values) / 2:
                raise ValueError(f"line {others.index[0] + 2}: {name} is {shown(others.iloc[0])}, most are numbers")
        return frame
    except (ValueError, csv.Error) as problem:
        raise _unreadable(path, "CSV", problem, REMEDY) from None


def _before_footer(content: bytes) -> int:
    """Return where parquet's footer begins: its length is in the four bytes before the last four, which are PAR1."""
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def _having(columns: tuple[str, ...], frame: pd.DataFrame) -> pd.DataFrame:
    missing = [name for name in columns if name not in frame]
    if missing:
        raise ValueError(f"it has no column {', '.join(missing)}; it has {', '.join(map(str, frame))}"[:200])
    return frame


def _unreadable(path: Path, kind: str, problem: Exception, remedy: str) -> InputError:
    why = problem.strerror if isinstance(problem, OSError) and problem.strerror else " ".join(str(problem).split())
    return InputError(f"{path}: cannot be read as {kind}: {why}; {remedy}")
