"""A record's folder: raw numbers of all its pieces, and what is derived from them."""

import shutil
from itertools import chain
from pathlib import Path

import pandas as pd

from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.records.pieces import MODEL

KEPT = ("accuracy", "mechanism", "pieces")


def read_record(folder: Path) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Return the accuracies and what is inside, and the list of pieces.

    Raises InputError where a file is missing or damaged, where they are of different models, or hold a row twice.
    """
    accuracy, mechanism, pieces = (read_csv(folder / f"{name}.csv", *CSV[name]) for name in KEPT)
    listed = list(chain.from_iterable(_models(piece) for _, piece in pieces.iterrows()))
    if len(set(listed)) < len(listed):
        raise InputError(f"{folder}/pieces.csv: has a model twice; git checkout {folder}")
    for name, rows in (("accuracy", accuracy), ("mechanism", mechanism)):
        keys = [key for key in (*MODEL, "temperature", "length") if key in rows]
        if rows.duplicated(keys).any() or set(rows[MODEL].itertuples(index=False, name=None)) != set(listed):
            wrong = "is not of the models of pieces.csv, or has a row twice"
            raise InputError(f"{folder}/{name}.csv: {wrong}; git checkout {folder}")
    return [accuracy, mechanism], pieces


def replace(folder: Path, new: Path) -> None:
    """Put a new folder, which lies beside it, in its place. What a killed process left, `restore` puts right.

    Raises InputError where the old one has something that the new one has not, which would be lost.
    """
    before = _before(folder)
    if folder.exists():
        others = {path.name for path in folder.iterdir()} - {path.name for path in new.iterdir()}
        if others:
            raise InputError(f"{folder}/{min(others)}: is no part of a record, and would be lost; move it away")
        folder.rename(before)
    new.rename(folder)
    shutil.rmtree(before, ignore_errors=True)


def restore(folder: Path) -> None:
    """Put the folder back as it was before a `replace` that did not end, where there is no new one."""
    before = _before(folder)
    if before.exists() and not folder.exists():
        before.rename(folder)
    shutil.rmtree(before, ignore_errors=True)


def _before(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.before")


def _models(piece: pd.Series) -> list[tuple[object, ...]]:
    seeds = range(piece["first_seed"], piece["last_seed"] + 1)
    return [(piece["task"], piece["range"], piece["norm"], seed) for seed in seeds]
