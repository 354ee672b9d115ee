"""Pieces of a study on the disk: a folder each, which appears under its name only when it is whole.

piece.json says whose it is, with its parameters and what it was computed on; accuracy.csv and mechanism.csv have the
columns of their namesakes in metrics/.
"""

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field, NonNegativeFloat

from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.engine.seeds import Index
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.files import read_document
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.outputs import write_files
from vanishing_variance.harness.sections import Section
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.explained import INSIDE, MODEL
from vanishing_variance.results.records.pieces import check_parameters, parameters

# The rules that every piece has accuracies by; it may have others.
REQUIRED = ("plain", "adaptive", "fitted")
REMEDY = "copy the piece again, or delete it and run python -m stages.pieces"


class Described(Section):
    """piece.json: whose models they are, their parameters by dotted key, and what they were computed on.

    `minutes`: of the last run of the stages, added up, so that of a training which was stopped only what came after
    counts; None where their results came from a cache.
    """

    task: Literal["argmax", "dictionary"]
    range: Literal["short", "long"]
    norm: str
    seeds: Annotated[list[Index], Field(min_length=1)]
    parameters: dict[str, Any]
    device: str
    cores: int
    versions: dict[str, str]
    revision: str
    minutes: Annotated[NonNegativeFloat, Field(allow_inf_nan=False)] | None


@dataclass(frozen=True)
class Piece:
    """The contents of piece.json, accuracy.csv and mechanism.csv."""

    described: Mapping[str, Any]
    accuracy: pd.DataFrame
    mechanism: pd.DataFrame


def write_piece(folder: Path, piece: Piece) -> None:
    """Write a piece's three files; there is no such folder yet."""
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    files = {"accuracy.csv": piece.accuracy, "mechanism.csv": piece.mechanism, "piece.json": piece.described}
    try:
        write_files(temporary, files)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_piece(folder: Path, params: Mapping[str, Any]) -> Piece:
    """Return a piece of models of these parameters.

    Raises InputError for a folder that is no piece, one of other parameters, and where a row or a number is missing.
    """
    path = folder / "piece.json"
    if not path.is_file():
        raise InputError(f"{path}: cannot be read; python -m stages.pieces leaves pieces in runs/pieces")
    try:
        described: dict[str, Any] = read_document(path, Described)
        accuracy = read_csv(folder / "accuracy.csv", *COLUMNS)[COLUMNS]
        mechanism = read_csv(folder / "mechanism.csv", *INSIDE)[INSIDE]
    except InputError as problem:
        said, _, _ = str(problem).rpartition("; ")  # without its remedy, which is that of DVC's outputs
        raise InputError(f"{said}; {REMEDY}") from None
    ranges = ranges_of(params)
    if described["range"] not in ranges:
        said = f"range is {shown(described['range'])}; must be {' or '.join(ranges)}"
        raise InputError(f"{path}: {said}, the ranges of params.yaml (train_also_on)")
    wanted = parameters(params, described["task"], described["range"])
    check_parameters(described["parameters"], wanted, str(folder))
    lengths = wanted["test.lengths"]
    rules = list(dict.fromkeys([*REQUIRED, *accuracy["rule"]]))
    _check_rows(folder / "accuracy.csv", accuracy, described, rule=rules, length=lengths)
    _check_rows(folder / "mechanism.csv", mechanism, described, length=[0, *lengths])
    return Piece(described, accuracy, mechanism)


def _check_rows(path: Path, rows: pd.DataFrame, described: Mapping[str, Any], **levels: Any) -> None:
    """Raise InputError where rows are not those of the models that piece.json names, at each of `levels`.

    Or where a number is missing; at the training lengths, length 0, there are those of O alone.
    """
    names = [*MODEL, *levels]
    norm = described["norm"]
    seeds = described["seeds"]
    wanted = pd.MultiIndex.from_product([[described["task"]], [described["range"]], [norm], seeds, *levels.values()])
    stored = pd.MultiIndex.from_frame(rows[names])
    if not stored.sort_values().equals(wanted.sort_values()):
        said = f"does not hold seeds {seeds[0]} to {seeds[-1]} of {norm} at every test length, once each"
        raise InputError(f"{path}: {said}; {REMEDY}")
    numbers = rows[rows["length"] > 0].drop(columns=names)
    for name, values in numbers.items():
        numeric = pd.to_numeric(values, errors="coerce")
        if not np.isfinite(numeric).all():
            raise InputError(f"{path}: {name} has a number that is missing; {REMEDY}")
