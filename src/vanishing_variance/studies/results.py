"""The results of a line on one task, in git: a row a seed, rule and length."""

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.accuracy import rows
from vanishing_variance.studies.line import STUDIES

if TYPE_CHECKING:  # tests of a line do not depend on how a study is read
    from vanishing_variance.studies.study import Study

# Of the rule plain `target`: the attention weight of the item with the answer, `variance`: of O before the normaliser.
# `note`: what stopped a training; such a row has nothing else. Beside them are those of `by_head`.
COLUMNS = ["seed", "rule", "length", "accuracy", "target", "variance", "note"]
# Of lines whose checkpoints were kept: of these weights at the training lengths, in nats (`measure.training_loss`).
LOSS = "loss"


def results(accuracy: pd.DataFrame, mechanism: pd.DataFrame) -> pd.DataFrame:
    """Return COLUMNS, of the frames of `evaluate_block`: accuracy as a fraction."""
    inside = rows(mechanism, sample="tested").rename(columns={"variance_before": "variance"})
    return beside(accuracy, inside)


def last_layer(inside: pd.DataFrame) -> pd.DataFrame:
    """Return seed, length, target and variance of the last layer of `plain_inside`, means over its heads."""
    last = inside[inside["layer"] == inside["layer"].max()]
    means: pd.DataFrame = last.groupby(["seed", "length"])[["target", "variance"]].mean()
    return means.reset_index()


def by_head(inside: pd.DataFrame) -> pd.DataFrame:
    """Return seed, length, rule and for each layer and head, from 0, `target_<layer>_<head>` and `variance_…`.

    `inside`: of `plain_inside`.
    """
    place = inside["layer"].astype(str) + "_" + inside["head"].astype(str)
    wide = inside.assign(place=place).pivot(index=["seed", "length"], columns="place", values=["target", "variance"])
    wide.columns = wide.columns.map("_".join)
    return wide.round(6).assign(rule="plain").reset_index()


def beside(accuracy: pd.DataFrame, inside: pd.DataFrame | None) -> pd.DataFrame:
    """Return COLUMNS: accuracies, and of the rule plain what is inside the models: seed, length, target, variance."""
    table = accuracy
    if inside is not None:
        measured = inside[["seed", "length", "target", "variance"]].round(6).assign(rule="plain")
        table = accuracy.merge(measured, "left", ["seed", "rule", "length"])
    return table.reindex(columns=COLUMNS)


def results_file(study: str, task: str, line: str) -> Path:
    """Return the path of a line's results on a task."""
    return STUDIES / study / "results" / f"{task}-{line}.csv"


def results_files(name: str, study: "Study") -> dict[tuple[str, str], Path]:
    """Return the path of the results of all lines, by task and line; a kept line may have been tested on one task.

    Raises InputError where a kept line has none.
    """
    files: dict[tuple[str, str], Path] = {}
    for task, line in product(study.tasks, study.names):
        path = results_file(name, task, line)
        if line in study.lines or path.exists():
            files[task, line] = path
    missing = set(study.names).difference(line for _, line in files)
    if missing:
        raise InputError(f"{STUDIES / name}/study.yaml: kept has {min(missing)}, which has no file in results/")
    return files


def read_results(name: str, study: "Study") -> pd.DataFrame:
    """Return the results of all lines, with columns task and line. Raises InputError where a line has none."""
    frames = []
    for (task, line), path in results_files(name, study).items():
        frames.append(read_csv(path, *COLUMNS[:4]).assign(task=task, line=line))
    found = pd.concat(frames)
    found = found.reindex(columns=list(dict.fromkeys(["task", "line", *COLUMNS, LOSS, *found])))
    if study.lengths:  # a kept line may have more
        found = found[found["length"].isin(study.lengths) | found["length"].isna()]
    return found
