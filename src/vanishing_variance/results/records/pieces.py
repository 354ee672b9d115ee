"""A study in pieces: one block of seeds of one task, range and normaliser each, from any machine, in any order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from vanishing_variance.engine.ranges import steps_key
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.runs import TASKS, trained
from vanishing_variance.harness.sections import get_param
from vanishing_variance.harness.yaml import flattened

# What changes no accuracy but the last bits, and what Figure 4 alone reads.
UNREAD = ("training.kept_steps", "training.seeds_per_process", "diagnostics.heatmap_sequences")


@dataclass(frozen=True)
class Goal:
    """The seeds below `end` of every variant of a range, tasks in this order."""

    range: str
    tasks: Sequence[str]
    end: int


# In order of worth: what decides a claim first, the paper's number of seeds last. The paper's scale begins at seed 16:
# these are 32, 16 and 104 seeds.
GOALS = (Goal("short", TASKS, 48), Goal("long", TASKS[::-1], 32), Goal("short", TASKS, 120))


def plan(
    norm: str, blocks: Sequence[int], size: int, ranges: Sequence[str], goals: Sequence[Goal] = GOALS
) -> Iterator[list[Run]]:
    """Yield the runs in order of worth, `size` seeds each: together all variants of a task, range and block.

    Variants are compared with each other, seed by seed, so one without the others is worth nothing. `ranges`: those of
    the study; goals of others are left out. Raises InputError for a block beyond all goals.
    """
    goals = [goal for goal in goals if goal.range in ranges]
    end = max(goal.end for goal in goals)
    for block in blocks:
        first = block * size
        if first >= end:
            raise InputError(f"blocks: {block} begins at seed {first}; must begin below {end}")
    planned = set()
    for goal in goals:
        variants = trained(goal.range, norm)
        within = [block for block in blocks if block * size < goal.end]
        for block, task in product(within, goal.tasks):
            group = (task, goal.range, block)
            if group not in planned:
                planned.add(group)
                yield [Run(task, goal.range, variant, block) for variant in variants]


def parameters(params: Mapping[str, Any], task: str, range_: str) -> dict[str, Any]:
    """Return all that decides the numbers of a model of this task and range, but its seed: by dotted key.

    Left out are UNREAD, and the steps on other ranges.
    """
    keys = [f"tasks.{task}.data", steps_key(task, range_), f"tasks.{task}.training", f"ranges.{range_}"]
    keys += ["seed", "attention", "model", "training", "test", "diagnostics", "temperature"]
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
