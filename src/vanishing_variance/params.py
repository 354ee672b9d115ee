"""All of params.yaml, checked before anything runs."""

from typing import Any

from vanishing_variance.engine import registry
from vanishing_variance.engine.config import Model, Training
from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.engine.seeds import Blocks, Index, SeedsPerBlock
from vanishing_variance.engine.task import Task
from vanishing_variance.figures.config import Figures
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.norm import Norm
from vanishing_variance.harness.runs import RANGES, TASKS
from vanishing_variance.harness.sections import PATH, get_param, named
from vanishing_variance.measure.evaluation.config import Diagnostics, Fit
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.proposition.config import Proposition
from vanishing_variance.probe.config import Probe

KEYS = (
    *("norm", "seed", "blocks", "seeds_per_block"),
    *("tasks", "ranges", "model", "training", "temperature", "test", "diagnostics", "figures"),
    *("proposition", "interventions", "probe"),
)


# Projections that the study's stages support.
PROJECTIONS = ("mlp", "direct")


def check(document: dict[str, Any]) -> None:
    """Validate every key and what must hold between them. Raises InputError for the first thing that is wrong."""
    _exactly(document, "", KEYS)
    get_param(document, "norm", Norm)
    get_param(document, "seed", Index)
    get_param(document, "seeds_per_block", SeedsPerBlock)
    get_param(document, "blocks", Blocks)
    model: Model = get_param(document, "model", Model)
    if model.projection not in PROJECTIONS:
        raise InputError(
            f"{PATH}: model.projection is {shown(model.projection)}; must be one of {', '.join(PROJECTIONS)} here: "
            "adaptive temperatures and interventions need keys that fold into the query; the leaderboard allows all"
        )
    get_param(document, "training", Training)
    diagnostics: Diagnostics = get_param(document, "diagnostics", Diagnostics)
    if diagnostics.heatmap_sequences > diagnostics.sequences:
        raise InputError(
            f"{PATH}: diagnostics.heatmap_sequences is {diagnostics.heatmap_sequences}; "
            f"must be at most diagnostics.sequences, {diagnostics.sequences}"
        )
    test: Test = get_param(document, "test", Test)
    get_param(document, "temperature", Fit)
    _exactly(get_param(document, "ranges", dict), "ranges", RANGES)
    ranges: dict[str, Range] = {name: get_param(document, f"ranges.{name}", Range) for name in RANGES}
    _exactly(get_param(document, "tasks", dict), "tasks", TASKS)
    for name in TASKS:
        module = registry.load_task(name)
        _exactly(get_param(document, f"tasks.{name}", dict), f"tasks.{name}", ("data", "steps", "training"))
        _exactly(get_param(document, f"tasks.{name}.steps", dict), f"tasks.{name}.steps", RANGES)
        for range_name in RANGES:
            training_steps(document, name, range_name)
        task: Task = get_param(document, f"tasks.{name}.data", module.TASK)
        get_param(document, f"tasks.{name}.training", module.TRAINING)
        for key, length in [
            *((f"test.lengths[{place}]", length) for place, length in enumerate(test.lengths)),
            *((f"ranges.{range_name}.longest", bounds.longest) for range_name, bounds in ranges.items()),
        ]:
            if task.longest is not None and length > task.longest:
                raise InputError(f"{PATH}: {key} is {length}; must be at most {task.longest}, the keys of task {name}")
    figures: Figures = get_param(document, "figures", Figures)
    for place, length in enumerate(figures.lengths):
        if length not in test.lengths:
            lengths = ", ".join(map(str, test.lengths))
            raise InputError(f"{PATH}: figures.lengths[{place}] is {length}; choose from test.lengths: {lengths}")
    how: Interventions = get_param(document, "interventions", Interventions)
    if how.sequences > test.sequences:
        raise InputError(
            f"{PATH}: interventions.sequences is {how.sequences}; must be at most test.sequences, {test.sequences}"
        )
    get_param(document, "probe", Probe)
    proposition: Proposition = get_param(document, "proposition", Proposition)
    if sum(length >= proposition.tail for length in proposition.lengths) < 3:
        lengths = ", ".join(map(str, proposition.lengths))
        raise InputError(
            f"{PATH}: proposition.tail is {proposition.tail}; must leave at least 3 of proposition.lengths: {lengths}"
        )


def _exactly(section: dict[Any, Any], name: str, keys: tuple[str, ...]) -> None:
    """Check that the section has these keys and no others."""
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
