"""The raw results in one frame, and the comparisons that tables and metrics show.

Accuracies are fractions in the raw results, as in metrics/accuracy.csv; comparisons are in percent and percentage
points, as in the paper.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.errors import InputError
from vanishing_variance.paths import Run
from vanishing_variance.statistics import Comparison, paired
from vanishing_variance.study import TEMPERATURES

COLUMNS = ["task", "range", "norm", "seed", "temperature", "length", "accuracy"]
POWERS = ("p4", "p3", "p2", "p1", "p0")


def gather(frames: Iterable[tuple[Run, pd.DataFrame]], seeds: int) -> pd.DataFrame:
    """All accuracies: task, range, norm, seed, temperature, length, accuracy.

    Raises InputError, which names the run, when one does not have `seeds` seeds at the lengths that the others have.
    """
    parts = []
    lengths: list[int] | None = None
    for run, frame in frames:
        lengths = lengths or sorted(frame["length"].unique())
        counts = frame.groupby(["temperature", "length"])["seed"].nunique()
        complete = sorted(frame["length"].unique()) == lengths and (counts == seeds).all()
        if not complete:
            path = run.path("accuracy", ".parquet")
            raise InputError(f"{path}: does not hold {seeds} seeds at the lengths of the other runs; run dvc repro")
        parts.append(frame.assign(task=run.task, range=run.range, norm=run.norm))
    return pd.concat(parts, ignore_index=True)[COLUMNS].sort_values(COLUMNS, ignore_index=True)


def by_seed(accuracy: pd.DataFrame, task: str, range_: str, norm: str, temperature: str) -> pd.DataFrame:
    """Accuracies in percent, one row a seed and one column a length, both increasing."""
    of = accuracy.query("task == @task and range == @range_ and norm == @norm and temperature == @temperature")
    return of.pivot(index="seed", columns="length", values="accuracy") * 100


def compare(accuracy: pd.DataFrame, task: str, range_: str, treatment: str, baseline: str) -> pd.DataFrame:
    """The paired test at every temperature and length, `plain` first.

    Columns: temperature, length, baseline and treatment (mean accuracy in percent), and the fields of `Comparison`, in
    percentage points.
    """
    rows = []
    for temperature in TEMPERATURES:
        of_baseline = by_seed(accuracy, task, range_, baseline, temperature)
        of_treatment = by_seed(accuracy, task, range_, treatment, temperature).loc[of_baseline.index]
        for length in of_baseline.columns:
            ours, theirs = of_treatment[length].to_numpy(), of_baseline[length].to_numpy()
            test: Comparison = paired(ours, theirs)
            means = {"baseline": np.mean(theirs), "treatment": np.mean(ours)}
            rows.append({"temperature": temperature, "length": int(length), **means, **vars(test)})
    return pd.DataFrame(rows)


def polynomials(fits: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The fitted adaptive temperatures, a row a variant.

    Columns: task, range, norm; `mistakes`, how many it was fitted to (or too few for that); `lowest` and `highest`, the
    entropies (nats) between which they lay; the coefficient of each power of the entropy, p4 to p0.
    """
    rows = []
    for fit in fits:
        powers = dict(zip(POWERS[-len(fit["polynomial"]) :], fit["polynomial"], strict=True))
        rows.append({key: fit[key] for key in ("task", "range", "norm", "mistakes", "lowest", "highest")} | powers)
    return pd.DataFrame(rows).reindex(columns=["task", "range", "norm", "mistakes", "lowest", "highest", *POWERS])
