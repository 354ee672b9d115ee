"""Pieces of a study on the disk: a folder each, which appears under its name only when it is whole."""

import secrets
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import FiniteFloat

from vanishing_variance.core.config import Section
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.files import read_document, write_json
from vanishing_variance.core.frames import read_csv, write_csv
from vanishing_variance.study.columns import CSV


class Described(Section):
    """piece.json: whose models they are, their parameters by dotted key, and what they were computed on.

    `minutes`: of the last run of the stages, added up; None where their results came from a cache.
    """

    task: str
    range: str
    norm: str
    seeds: list[int]
    parameters: dict[str, Any]
    device: str
    cores: int
    versions: dict[str, str]
    revision: str
    minutes: FiniteFloat | None


def write_piece(folder: Path, described: dict[str, Any], accuracy: pd.DataFrame, mechanism: pd.DataFrame) -> None:
    """Write a piece's three files; there is no such folder yet."""
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    try:
        write_csv(temporary / "accuracy.csv", accuracy)
        write_csv(temporary / "mechanism.csv", mechanism)
        write_json(temporary / "piece.json", described)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_piece(folder: Path) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    """Return what piece.json says, the accuracies and what is inside. Raises InputError for a folder that is none."""
    if not (folder / "piece.json").is_file():
        raise InputError(f"{folder}/piece.json: cannot be read; python -m stages.pieces leaves pieces in runs/pieces")
    frames = (read_csv(folder / f"{name}.csv", *CSV[name]) for name in ("accuracy", "mechanism"))
    accuracy, mechanism = frames
    return read_document(folder / "piece.json", Described), accuracy, mechanism
