"""A study in pieces: one block of seeds of one task, range and normaliser each, from any machine, in any order.

A piece is a folder: piece.json (whose it is, its parameters, what it was computed on), accuracy.csv and mechanism.csv.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.engine.ranges import steps_key
from vanishing_variance.harness.dotted import flattened
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.runs import TASKS, trained
from vanishing_variance.harness.sections import get_param

MODEL = ["task", "range", "norm", "seed"]


@dataclass(frozen=True)
class Goal:
    """The seeds below `end` of every variant of a range, tasks in this order."""

    range: str
    tasks: Sequence[str]
    end: int


# In order of worth: what decides a claim first, the paper's number of seeds last. The paper's scale begins at seed 16:
# these are 32, 16 and 104 seeds.
GOALS = (Goal("short", TASKS, 48), Goal("long", TASKS[::-1], 32), Goal("short", TASKS, 120))


def plan(norm: str, blocks: Sequence[int], size: int, goals: Sequence[Goal] = GOALS) -> Iterator[list[Run]]:
    """Yield the runs in order of worth, `size` seeds each: together all variants of a task, range and block.

    Variants are compared with each other, seed by seed, so one without the others is worth nothing. Raises InputError
    for a block beyond all goals.
    """
    seen, end = set(), max(goal.end for goal in goals)
    for block in blocks:
        if block * size >= end:
            raise InputError(f"blocks: {block} begins at seed {block * size}; must begin below {end}")
    for goal in goals:
        for block in (block for block in blocks if block * size < goal.end):
            for task in goal.tasks:
                group = [Run(task, goal.range, one, block) for one in trained(goal.range, norm)]
                if group[0] not in seen:
                    seen.add(group[0])
                    yield group


def parameters(params: Mapping[str, Any], task: str, range_: str) -> dict[str, Any]:
    """Return all that decides the numbers of a model of this task and range, but its seed: by dotted key.

    Left out is what changes the last bits alone (`training.seeds_per_process`), what Figure 4 alone reads
    (`diagnostics.heatmap_sequences`), and the steps on other ranges.
    """
    of_task = [f"tasks.{task}.data", steps_key(task, range_), f"tasks.{task}.training", f"ranges.{range_}"]
    sections = ["seed", *of_task, "model", "training", "test", "diagnostics", "temperature"]
    flat = flattened({name: get_param(params, name, Any) for name in sections})
    for unread in ("training.seeds_per_process", "diagnostics.heatmap_sequences"):
        flat.pop(unread, None)
    return flat


def check_parameters(found: Mapping[str, Any], wanted: Mapping[str, Any], name: str) -> None:
    """Raise InputError, which names the first key and both values, where the parameters of models differ."""
    for key in sorted({*found, *wanted}):
        if found.get(key) != wanted.get(key):
            raise InputError(f"{name}: {key} is {shown(found.get(key))}; must be {shown(wanted.get(key))}")


def record_name(name: str) -> str:
    """Return the name of a record, a folder of metrics/. Raises InputError for one that is none."""
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", name) or name == "tables":
        raise InputError(
            f"name: {shown(name)} must be 1 to 64 characters of a-z, 0-9 and -, the first one a letter, and not tables"
        )
    return name


def merged(record: pd.DataFrame, piece: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of both, sorted, whatever the order in which pieces come; no model is in both."""
    return _sorted(pd.concat([record, piece], ignore_index=True) if len(record) else piece)


def is_recorded(record: pd.DataFrame, piece: pd.DataFrame, name: str) -> bool:
    """Return whether a record has the models of a piece (task, range, norm, seed).

    Raises InputError where it has some of them alone, or with other numbers.
    """
    if record.empty:
        return False
    both = record.merge(piece[MODEL].drop_duplicates())
    if len(both) and not _sorted(both).reindex(columns=piece.columns).equals(_sorted(piece)):
        model = ", ".join(f"{key} {both[key].iloc[0]}" for key in MODEL)
        raise InputError(f"{name}: {model} is in the record already, with other numbers")
    return len(both) > 0


def recorded(pieces: pd.DataFrame, run: Run) -> set[int]:
    """Return the seeds of a run's variant that a record's list of pieces has."""
    of = pieces.query("task == @run.task and range == @run.range and norm == @run.norm")
    ends = zip(of["first_seed"], of["last_seed"], strict=True)
    return {seed for first, last in ends for seed in range(first, last + 1)}


def with_piece(pieces: pd.DataFrame, described: Mapping[str, Any]) -> pd.DataFrame:
    """Return the list of a record's pieces with one more: whose models, and what they were computed on; sorted."""
    own, versions = described["seeds"], described["versions"]
    row = {
        **{key: described[key] for key in ("task", "range", "norm")},
        **{"first_seed": own[0], "last_seed": own[-1]},
        **{key: described[key] for key in ("device", "cores", "revision", "minutes")},
        **{name: versions[name] for name in ("python", "torch", "numpy")},
    }
    together = pd.concat([pieces, pd.DataFrame([row])], ignore_index=True)
    return together.sort_values(["task", "range", "norm", "first_seed"], ignore_index=True)


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    keys = [key for key in (*MODEL, "temperature", "length") if key in rows]
    return rows.sort_values(keys, ignore_index=True)
