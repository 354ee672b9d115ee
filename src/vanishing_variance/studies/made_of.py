"""Columns of results that say what they were made of; results that differ in them are not compared."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from vanishing_variance.engine.config import Model, Training
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.sections import PATH, Section

# Equal for all lines of a task: the seed of all random streams, the test sequences of a length, a digest of the task's
# parameters. And for all seeds of a line: a digest of what its training reads of the parameters.
OF_TEST = ["root_seed", "sequences", "tested_on"]
OF_TRAINING = "trained_with"
COLUMNS = [*OF_TEST, OF_TRAINING]
# Of a kept line, which may be of another root seed.
OF_KEPT = ["sequences", "tested_on", OF_TRAINING]
# Of a plan of training: what is apart, or changes nothing of what a seed learns but last bits.
NOT_OF_A_SEED = ("files", "seed", "tasks", "seeds_per_block", "seeds_per_process", "kept_steps")


def made_of(training: Mapping[str, Any], sequences: int) -> dict[str, Any]:
    """Return COLUMNS of a run, by the plan of its training."""
    ((task, section),) = training["tasks"].items()
    own = {key: value for key, value in training.items() if key not in NOT_OF_A_SEED}
    for name, kind in (("training", Training), ("model", Model)):
        own[name] = {key: _typed(kind, key, value) for key, value in own[name].items() if key not in NOT_OF_A_SEED}
    own["task"] = {key: value for key, value in section.items() if key != "data"}
    return {
        "root_seed": training["seed"],
        "sequences": sequences,
        "tested_on": digest({task: section["data"]})[:8],
        OF_TRAINING: digest(own)[:8],
    }


def _typed(kind: type[Section], key: str, value: Any) -> Any:
    """Return a value of a section, a whole number as a float where it is one of these: 0 is 0.0."""
    is_float = key in kind.model_fields and kind.model_fields[key].annotation is float
    return float(value) if is_float else value


def digest(document: Any) -> str:
    """Return a text that changes with a document."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]


def check_kept_made_of(where: Path, kept: pd.DataFrame, now: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Raise InputError where a kept line was made otherwise than it would be now, but for its root seed.

    `now`: COLUMNS by task and line. Results from before a column was there say nothing of it.
    """
    for column in kept.columns.intersection(OF_KEPT):
        once = kept.dropna(subset=column).drop_duplicates(["task", "line", column])
        for task, line, before in zip(once["task"], once["line"], once[column], strict=True):
            expected = now.get(task, {}).get(line, {}).get(column, before)
            if before != expected:
                said = f"{where}: line {line} on {task} has {column} {shown(before)}, now {shown(expected)}"
                raise InputError(f"{said}; put back what changed in {PATH} or study.yaml")


def check_made_of(where: str, results: pd.DataFrame) -> None:
    """Raise InputError where results cannot be compared; those from before the columns were there say nothing."""
    for column, keys in [*((name, ["task"]) for name in OF_TEST), (OF_TRAINING, ["task", "line"])]:
        if column not in results:
            continue
        known = results.dropna(subset=column)
        for _, group in known.groupby(keys, sort=False):
            first = group.iloc[0]
            for other in group[group[column] != first[column]].head(1).to_dict("records"):
                both = []
                for row in (first, other):
                    both.append(f"line {row['line']}, seed {row['seed']:.0f}: {shown(row[column])}")
                said = f"{where}: {column} on {first['task']} differs, {' and '.join(both)}"
                raise InputError(f"{said}; such results cannot be compared")
