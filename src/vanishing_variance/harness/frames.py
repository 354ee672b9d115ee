"""Tidy frames, as parquet between stages and as CSV in git."""

import csv
import hashlib
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_bytes, write_json, write_text

_SHA256 = hashlib.sha256().digest_size
# Columns of names and digests, which may look like numbers.
NAMES = ("task", "line", "baseline", "tested_on", "trained_with", "model", "revision")
# By name: a frame, written as CSV; a text; or a document, written as JSON.
Files = dict[str, Any]


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write a tidy frame as parquet, with its checksum before the footer, where no reader of parquet looks.

    Parquet's own checksums leave out the footer: a flipped bit there can give other columns.
    """
    content = frame.to_parquet(None, index=False)
    footer = _start_of_footer(content)
    checksum = hashlib.sha256(content).digest()
    write_bytes(path, content[:footer] + checksum + content[footer:])


def read_frame(path: Path) -> pd.DataFrame:
    """Return a tidy frame from parquet. Raises InputError when the file is missing or damaged."""
    try:
        stored = path.read_bytes()
        footer = _start_of_footer(stored)
        start = footer - _SHA256
        content = stored[:start] + stored[footer:]
        if start < 0 or stored[start:footer] != hashlib.sha256(content).digest():
            raise ValueError("its checksum does not fit")
        return pd.read_parquet(BytesIO(content))
    except (OSError, ValueError, pa.ArrowException) as problem:
        raise _unreadable(path, "parquet", problem, "delete it and run dvc repro") from None


def widened(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a tidy frame with a column a length, `<name>_<length>`, in place of its columns `length` and `name`."""
    keys = frame.columns.drop(["length", name])
    by_length = frame.set_index([*keys, "length"])[name].unstack(sort=False).sort_index(axis=1)
    return by_length.add_prefix(f"{name}_").reset_index()


def tidied(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return what `widened` was given, length by length."""
    keys = [column for column in frame if not str(column).startswith(f"{name}_")]
    tidy = frame.melt(keys, var_name="length", value_name=name).dropna(subset=name)
    return tidy.assign(length=tidy["length"].str.removeprefix(f"{name}_").astype(int))


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a tidy frame as CSV, numbers in full."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def read_csv(path: Path, *columns: str) -> pd.DataFrame:
    """Return a tidy frame from CSV; `none` is a name, not a missing value, and so is `010` in a column of NAMES.

    Raises InputError when the file is missing, lacks one of `columns` or has one twice, or is not whole, as after a
    merge conflict.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # spreadsheets begin it with a byte order mark
        if not text.endswith("\n"):
            raise ValueError("its last line is cut off" if text else "it is empty")
        rows = list(csv.reader(StringIO(text), strict=True))
        for number, row in enumerate(rows, start=1):
            if len(row) != len(rows[0]):
                raise ValueError(f"line {number} has {len(row)} values, the first has {len(rows[0])}")
        for name in rows[0]:
            if rows[0].count(name) > 1:
                raise ValueError(f"it has two columns {name}")
        frame = pd.read_csv(StringIO(text), keep_default_na=False, na_values=[""], dtype=dict.fromkeys(NAMES, str))
        missing = [name for name in columns if name not in frame]
        if missing:
            raise ValueError(f"it has no column {', '.join(missing)}")
        return frame
    except (OSError, ValueError, csv.Error) as problem:
        raise _unreadable(path, "CSV", problem, "git checkout it, or delete it and run dvc repro") from None


def _start_of_footer(content: bytes) -> int:
    """Return where parquet's footer begins: its length is in the four bytes before the last four, which are PAR1."""
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def _unreadable(path: Path, kind: str, problem: Exception, remedy: str) -> InputError:
    why = getattr(problem, "strerror", None) or problem
    return InputError(f"{path}: cannot be read as {kind}: {why}; {remedy}")


def write_files(folder: Path, files: Files) -> None:
    """Write files into a folder, each as its content is."""
    for name, content in files.items():
        if isinstance(content, pd.DataFrame):
            write_csv(folder / name, content)
        elif isinstance(content, str):
            write_text(folder / name, content)
        else:
            write_json(folder / name, content)
