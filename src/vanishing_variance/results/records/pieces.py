"""A study in pieces: one block of seeds of one task, range and normaliser each, from any machine, in any order."""

from collections.abc import Iterator, Mapping, Sequence
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


# The long range has the seeds below this.
LONG_END = 32


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
