"""All of params.yaml, checked before anything runs."""

from typing import Any

from vanishing_variance import registry, tasks
from vanishing_variance.errors import InputError, shown
from vanishing_variance.interventions.config import Interventions
from vanishing_variance.params.base import PATH, named, take
from vanishing_variance.params.diagnostics import Diagnostics
from vanishing_variance.params.experiment import Model, Training
from vanishing_variance.params.figures import Figures
from vanishing_variance.params.norm import Norm
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Blocks, Index, SeedsPerBlock
from vanishing_variance.params.temperature import Fit
from vanishing_variance.params.test import Test
from vanishing_variance.probe.config import Probe
from vanishing_variance.proposition.config import Proposition
from vanishing_variance.study import RANGES, TASKS
from vanishing_variance.tasks.base import Task

KEYS = (
    *("norm", "seed", "blocks", "seeds_per_block"),
    *("tasks", "ranges", "model", "training", "temperature", "test", "diagnostics", "figures"),
    *("proposition", "interventions", "probe"),
)


def check(document: dict[str, Any]) -> None:
    """Validate every key and what must hold between them. Raises InputError for the first thing that is wrong."""
    _exactly(document, "", KEYS)
    take(document, "norm", Norm)
    take(document, "seed", Index)
    take(document, "seeds_per_block", SeedsPerBlock)
    take(document, "blocks", Blocks)
    take(document, "model", Model)
    take(document, "training", Training)
    diagnostics: Diagnostics = take(document, "diagnostics", Diagnostics)
    if diagnostics.heatmap_sequences > diagnostics.sequences:
        raise InputError(
            f"{PATH}: diagnostics.heatmap_sequences is {diagnostics.heatmap_sequences}; "
            f"must be at most diagnostics.sequences, {diagnostics.sequences}"
        )
    test: Test = take(document, "test", Test)
    take(document, "temperature", Fit)
    _exactly(take(document, "ranges", dict), "ranges", RANGES)
    ranges: dict[str, Range] = {name: take(document, f"ranges.{name}", Range) for name in RANGES}
    _exactly(take(document, "tasks", dict), "tasks", TASKS)
    for name in TASKS:
        module = registry.load(tasks, name)
        _exactly(take(document, f"tasks.{name}", dict), f"tasks.{name}", ("data", "training"))
        task: Task = take(document, f"tasks.{name}.data", module.TASK)
        take(document, f"tasks.{name}.training", module.TRAINING)
        for key, length in [
            *((f"test.lengths[{place}]", length) for place, length in enumerate(test.lengths)),
            *((f"ranges.{range_name}.longest", bounds.longest) for range_name, bounds in ranges.items()),
        ]:
            if task.longest is not None and length > task.longest:
                raise InputError(f"{PATH}: {key} is {length}; must be at most {task.longest}, the keys of task {name}")
    figures: Figures = take(document, "figures", Figures)
    for place, length in enumerate(figures.lengths):
        if length not in test.lengths:
            lengths = ", ".join(map(str, test.lengths))
            raise InputError(f"{PATH}: figures.lengths[{place}] is {length}; choose from test.lengths: {lengths}")
    how: Interventions = take(document, "interventions", Interventions)
    if how.sequences > test.sequences:
        raise InputError(
            f"{PATH}: interventions.sequences is {how.sequences}; must be at most test.sequences, {test.sequences}"
        )
    take(document, "probe", Probe)
    proposition: Proposition = take(document, "proposition", Proposition)
    if sum(length >= proposition.tail for length in proposition.lengths) < 3:
        lengths = ", ".join(map(str, proposition.lengths))
        raise InputError(
            f"{PATH}: proposition.tail is {proposition.tail}; must leave at least 3 of proposition.lengths: {lengths}"
        )


def _exactly(section: dict[Any, Any], name: str, keys: tuple[str, ...]) -> None:
    """The section has these keys and no others."""
    prefix = f"{name}." if name else ""
    for key, value in section.items():
        if key not in keys:
            raise InputError(
                f"{PATH}: {prefix}{named(key)} is {shown(value)}, but there is no such key; "
                f"choose from {', '.join(keys)}"
            )
    for key in keys:
        if key not in section:
            raise InputError(f"{PATH}: {prefix}{key} is missing; {name or 'the file'} must have {', '.join(keys)}")
