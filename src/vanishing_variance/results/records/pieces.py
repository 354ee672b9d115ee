"""Pieces of a study: one block of seeds of one task, range and normaliser each, from any machine, in any order.

On the disk a folder each, which appears under its name only when it is whole. piece.json says whose it is, with its
parameters and what it was computed on; accuracy.csv and mechanism.csv have the columns of their namesakes in metrics/.
"""

import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field, NonNegativeFloat

from vanishing_variance.engine.ranges import ranges_of, steps_key
from vanishing_variance.engine.seeds import Index
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.files import read_document
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.outputs import write_files
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.sections import Section, get_param
from vanishing_variance.harness.yaml import flattened
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.explained import INSIDE, MODEL
from vanishing_variance.results.runs import TASKS, trained

# What changes no accuracy but the last bits, and what Figure 4 alone reads.
UNREAD = ("training.kept_steps", "training.seeds_per_process", "diagnostics.heatmap_sequences")
# The long range has the seeds below this.
LONG_END = 32
# The rules that every piece has accuracies by; it may have others.
REQUIRED = ("plain", "adaptive")
REMEDY = "copy the piece again, or delete it and run python -m stages.pieces"


def plan(norm: str, blocks: Sequence[int], size: int, ranges: Sequence[str], attention: str) -> Iterator[list[Run]]:
    """Yield the runs of a record, `size` seeds each: together all variants of a task, range and block.

    Variants are compared with each other, seed by seed, so one without the others is worth nothing.
    """
    for range_ in ranges:
        variants = trained(range_, norm)
        for block, task in product(blocks, TASKS):
            if range_ == "short" or block * size < LONG_END:
                yield [Run(task, range_, variant, block, attention) for variant in variants]


def parameters(params: Mapping[str, Any], task: str, range_: str) -> dict[str, Any]:
    """Return all that decides the numbers of a model of this task and range, but its seed: by dotted key.

    Left out are UNREAD, and the steps on other ranges.
    """
    keys = [f"tasks.{task}.data", steps_key(task, range_), f"tasks.{task}.training", f"ranges.{range_}"]
    keys += ["seed", "attention", "model", "training", "test", "diagnostics"]
    values = flattened({key: get_param(params, key, Any) for key in keys})
    for key in UNREAD:
        values.pop(key, None)
    return values


def check_parameters(found: Mapping[str, Any], wanted: Mapping[str, Any], name: str) -> None:
    """Raise InputError, which names the first key and both values, where the parameters of models differ."""
    for key in sorted({*found, *wanted}):
        ours, theirs = found.get(key), wanted.get(key)
        if ours != theirs:
            raise InputError(f"{name}: {key} is {shown(ours)}; must be {shown(theirs)}")


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
