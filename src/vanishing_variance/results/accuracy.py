"""The raw results in one frame: accuracies as fractions, as in metrics/accuracy.csv."""

from collections.abc import Iterable
from typing import Any, TypeVar

import pandas as pd

from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.paths import Run

Indexed = TypeVar("Indexed", pd.DataFrame, "pd.Series[Any]")

COLUMNS = [*CSV["accuracy"]]


def gather(frames: Iterable[tuple[Run, pd.DataFrame]], seeds: int) -> pd.DataFrame:
    """Return all accuracies: task, range, norm, seed, temperature, length, accuracy.

    Raises InputError, which names the run, when one does not have `seeds` seeds at the lengths that the others have.
    """
    parts = []
    lengths: list[int] | None = None
    for run, frame in frames:
        lengths = lengths or sorted(frame["length"].unique())
        counts = frame.groupby(["temperature", "length"])["seed"].nunique()
        complete = sorted(frame["length"].unique()) == lengths and (counts == seeds).all()
        if not complete:
            path = run.folder("evaluated") / "accuracy.parquet"
            raise InputError(f"{path}: does not hold {seeds} seeds at the lengths of the other runs; run dvc repro")
        parts.append(frame.assign(task=run.task, range=run.range, norm=run.norm))
    return pd.concat(parts, ignore_index=True)[COLUMNS].sort_values(COLUMNS, ignore_index=True)


def by_seed(accuracy: pd.DataFrame, task: str, range_: str, norm: str, temperature: str) -> pd.DataFrame:
    """Return accuracies in percent, one row a seed and one column a length, both increasing."""
    of = accuracy.query("task == @task and range == @range_ and norm == @norm and temperature == @temperature")
    return of.pivot(index="seed", columns="length", values="accuracy") * 100


def pair(
    accuracy: pd.DataFrame, task: str, range_: str, treatment: str, baseline: str, temperature: str, longest: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `by_seed` of two variants, of the seeds that both have, at the lengths above `longest`."""
    ours, theirs = of_both(*(by_seed(accuracy, task, range_, norm, temperature) for norm in (treatment, baseline)))
    beyond = [length for length in theirs.columns if int(length) > longest]
    return ours.reindex(columns=beyond), theirs[beyond]


def of_both(ours: Indexed, theirs: Indexed) -> tuple[Indexed, Indexed]:
    """Return the rows of the seeds that both have, in the same order."""
    both = theirs.index.intersection(ours.index)
    return ours.loc[both], theirs.loc[both]
