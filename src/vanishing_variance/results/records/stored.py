"""Pieces of a study on the disk: a folder each, which appears under its name only when it is whole."""

import secrets
import shutil
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import AfterValidator, ConfigDict, Field, NonNegativeFloat

from vanishing_variance.engine import registry
from vanishing_variance.engine.seeds import Index
from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.files import read_document, write_json
from vanishing_variance.harness.frames import read_csv, write_csv
from vanishing_variance.harness.runs import RANGES, TASKS, TEMPERATURES
from vanishing_variance.harness.sections import Section

VARIANT = ("task", "range", "norm")
REMEDY = "copy the piece again, or delete it and run python -m stages.pieces"


def _consecutive(seeds: list[int]) -> list[int]:
    if seeds != list(range(seeds[0], seeds[0] + len(seeds))):
        raise ValueError("consecutive seeds")
    return seeds


class Versions(Section):
    """Versions of what the numbers were computed with; others may stand beside these."""

    model_config = ConfigDict(extra="allow")
    python: str
    torch: str
    numpy: str


class Described(Section):
    """piece.json: whose models they are, their parameters by dotted key, and what they were computed on.

    `minutes`: of the last run of the stages, added up, so that of a training which was stopped only what came after
    counts; None where their results came from a cache.
    """

    task: str
    range: str
    norm: str
    seeds: Annotated[list[Index], Field(min_length=1), AfterValidator(_consecutive)]
    parameters: dict[str, Any]
    device: str
    cores: int
    versions: Versions
    revision: str
    minutes: Annotated[NonNegativeFloat, Field(allow_inf_nan=False)] | None


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
    """Return what piece.json says, the accuracies and what is inside.

    Raises InputError for a folder that is no piece, and where its rows are not those of the models that piece.json
    names, each at every test length, or a number is impossible.
    """
    if not (folder / "piece.json").is_file():
        raise InputError(f"{folder}/piece.json: cannot be read; python -m stages.pieces leaves pieces in runs/pieces")
    try:
        described = read_document(folder / "piece.json", Described)
        accuracy, mechanism = (read_csv(folder / f"{name}.csv", *CSV[name]) for name in ("accuracy", "mechanism"))
    except InputError as problem:  # its remedy is that of DVC's outputs
        raise InputError(f"{str(problem).rpartition('; ')[0]}; {REMEDY}") from None
    for key, choices in zip(VARIANT, (TASKS, RANGES, registry.norm_names()), strict=True):
        if described[key] not in choices:
            said = f"{key} is {shown(described[key])}; must be one of {', '.join(choices)}"
            raise InputError(f"{folder}/piece.json: {said}")
    lengths = described["parameters"].get("test.lengths")
    if not (isinstance(lengths, list) and all(isinstance(length, int) for length in lengths)):
        raise InputError(f"{folder}/piece.json: test.lengths is {shown(lengths)}; must be a list of whole numbers")
    accuracy, mechanism = accuracy[[*CSV["accuracy"]]], mechanism[[*CSV["mechanism"], *_optional(mechanism)]]
    for name, rows in (("accuracy", accuracy), ("mechanism", mechanism)):
        if wrong := _wrong(described, rows):
            raise InputError(f"{folder}/{name}.csv: {wrong}; {REMEDY}")
    keys = ["seed", "length"]
    plain = accuracy.query("temperature == 'plain'").set_index(keys)["accuracy"].sort_index()
    if not plain.equals(mechanism.set_index(keys)["accuracy"].sort_index()):
        raise InputError(f"{folder}/mechanism.csv: its accuracies are not those of accuracy.csv; {REMEDY}")
    return described, accuracy, mechanism


def _optional(mechanism: pd.DataFrame) -> list[str]:
    return ["largest16"] if "largest16" in mechanism else []


def _wrong(described: Mapping[str, Any], rows: pd.DataFrame) -> str:
    """Return what is wrong with the rows of a piece; empty where nothing is."""
    for key in VARIANT:
        if set(rows[key]) != {described[key]}:
            return f"its {key} is not that of piece.json, {described[key]}"
    names = [name for name in ("temperature",) if name in rows]
    if names and set(rows["temperature"]) != set(TEMPERATURES):
        return f"temperature must be each of {', '.join(TEMPERATURES)}"
    seeds, integers = described["seeds"], rows[["seed", "length"]].dtypes.map(pd.api.types.is_integer_dtype).all()
    wanted = sorted(product(seeds, described["parameters"]["test.lengths"]))
    found = [group for _, group in rows.groupby(names)] if names else [rows]
    if not integers or any(sorted(zip(of["seed"], of["length"], strict=True)) != wanted for of in found):
        return f"does not hold seeds {seeds[0]} to {seeds[-1]} at every test length"
    numbers = rows.drop(columns=[*VARIANT, *names]).apply(pd.to_numeric, errors="coerce")
    lowest = [0.0 if "variance" in name else -np.inf for name in numbers]
    possible = np.isfinite(numbers) & (numbers > lowest)
    if not possible.all(axis=None):
        return f"{numbers.columns[~possible.all()][0]} has a number that is missing or impossible"
    return "" if numbers["accuracy"].between(0, 1).all() else "accuracy must be a fraction, 0 to 1"
