"""All of params.yaml, checked before anything runs."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import product
from typing import Any

from pydantic import Field, create_model

from vanishing_variance.engine import registry
from vanishing_variance.engine.config import Attention, Model, Norm, Training
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.ranges import Ranges as TrainOn
from vanishing_variance.engine.run import PAPER
from vanishing_variance.engine.seeds import Blocks, Index, SeedsPerBlock
from vanishing_variance.engine.task import Task
from vanishing_variance.figures.config import Figures
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.progress import say
from vanishing_variance.harness.sections import PATH, Count, Section, get_param, validate
from vanishing_variance.harness.yaml import OPTION
from vanishing_variance.measure.config import Diagnostics, Interventions, Proposition
from vanishing_variance.measure.held_out import Test
from vanishing_variance.probe.config import Probe
from vanishing_variance.results.runs import TASKS

# Gradient steps of a task that params.yaml does not name, on each range.
STEPS = 10_000
# So that a seed is a number of 32 bits, in results, too.
MOST_SEEDS = 2**31


class Steps(Section):
    """Gradient steps of a task by range."""

    short: Count
    long: Count


class Ranges(Section):
    """The lengths of training sequences."""

    short: Range
    long: Range


class Params(Section):
    """The whole file."""

    norm: Norm
    attention: Attention
    network: str
    network_options: dict[str, Any]
    norm_options: dict[str, Any] = Field(default_factory=dict)
    attention_options: dict[str, Any] = Field(default_factory=dict)
    train_on: TrainOn
    seed: Index
    blocks: Blocks
    seeds_per_block: SeedsPerBlock
    tasks: Any
    ranges: Ranges
    model: Model
    training: Training
    test: Test
    diagnostics: Diagnostics
    figures: Figures
    proposition: Proposition
    interventions: Interventions
    probe: Probe


def check(document: Mapping[str, Any], kind: type[Params] = Params) -> None:
    """Validate every key, and what must hold between them. Raises InputError for the first thing that is wrong."""
    params: Params = validate(document, "", kind)
    tasks = _checked_tasks(params.tasks)
    for contradiction in _contradictions(params, tasks):
        raise InputError(f"{PATH}: {contradiction}")


def with_tasks(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the document with a section of defaults for each task that it does not name. Raises InputError."""
    sections = dict(get_param(document, "tasks", dict[str, Any]))
    for name in names:
        if name not in sections:
            sections[name] = section_of(registry.load_task(name))
    return {**document, "tasks": sections}


def section_of(task: type[Task]) -> dict[str, Any]:
    """Return the defaults of a task's section; None, which `check` refuses, where a parameter has none."""
    data = {}
    for name, field in task.model_fields.items():
        data[name] = None if field.is_required() else field.get_default(call_default_factory=True)
    training = task.training_class()().model_dump()
    return {"data": data, "steps": {"short": STEPS, "long": STEPS}, "training": training}


def _checked_tasks(sections: Any) -> dict[str, Any]:
    """Return the section of each task, its `data`, `steps` and `training`: the paper's and those of other files.

    Raises InputError.
    """
    known = registry.names("tasks")
    others = [name for name in sections if name in known] if isinstance(sections, Mapping) else []
    kinds: dict[str, Any] = {}
    for name in dict.fromkeys((*TASKS, *others)):
        task = registry.load_task(name)
        parts: dict[str, Any] = {"data": (task, ...), "steps": (Steps, ...), "training": (task.training_class(), ...)}
        kinds[name] = (create_model(name, __base__=Section, **parts), ...)
    tasks = validate(sections, "tasks", create_model("Tasks", __base__=Section, **kinds))
    return dict(tasks)


def _contradictions(params: Params, tasks: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each key that does not fit others."""
    yield from _of_network(params.network, params.network_options, params.attention)
    yield from _of_options(params)
    test = params.test
    diagnostics = params.diagnostics
    if diagnostics.heatmap_sequences > diagnostics.sequences:
        yield (
            f"diagnostics.heatmap_sequences is {diagnostics.heatmap_sequences}; "
            f"must be at most diagnostics.sequences, {diagnostics.sequences}"
        )
    yield from _of_tasks(params, tasks)
    for place, length in enumerate(params.figures.lengths):
        if length not in test.lengths:
            yield f"figures.lengths[{place}] is {length}; choose from test.lengths: {_listed(test.lengths)}"
    sequences = params.interventions.sequences
    if sequences > test.sequences:
        yield f"interventions.sequences is {sequences}; must be at most test.sequences, {test.sequences}"
    most = max(getattr(task.steps, name) for task, name in product(tasks.values(), params.train_on))
    for place, kept in enumerate(params.training.kept_steps):
        if kept > most:
            yield f"training.kept_steps[{place}] is {kept}; must be at most {most}, the most steps of any training"
    largest = max(params.blocks)
    if (largest + 1) * params.seeds_per_block > MOST_SEEDS:
        yield f"blocks has {largest}; its {params.seeds_per_block} seeds must be below {MOST_SEEDS}"
    proposition = params.proposition
    if sum(length >= proposition.tail for length in proposition.lengths) < 3:
        yield (
            f"proposition.tail is {proposition.tail}; must leave at least 3 of proposition.lengths: "
            f"{_listed(proposition.lengths)}"
        )


def _of_tasks(params: Params, tasks: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for a length that a task does not have, and for a name that metrics have for another's range."""
    lengths = {f"test.lengths[{place}]": length for place, length in enumerate(params.test.lengths)}
    for range_ in params.train_on:
        lengths[f"ranges.{range_}.longest"] = getattr(params.ranges, range_).longest
    for (key, length), (name, task) in product(lengths.items(), tasks.items()):
        longest = task.data.longest
        if longest is not None and length > longest:
            yield f"{key} is {length}; must be at most {longest}, the longest of task {name}"
    for name in tasks if "long" in params.train_on else ():
        if f"{name}_long" in tasks:
            yield f"tasks has {name}_long, which is what metrics call the long range of {name}; rename it"


def _of_network(network: str, options: Mapping[str, Any], attention: str) -> Iterator[str]:
    """Yield a line for a network or an option that there is not, and for what belongs to another network."""
    if network == PAPER:
        if options:
            yield "network_options are those of another network; paper's are the section model, and attention"
        return
    plan = import_module("vanishing_variance.plain.plan")  # not above: it imports torch, which takes seconds
    try:
        plan.check_options(network, options)
        plan.check_attention(network, attention)
    except InputError as problem:
        yield str(problem)


def say_unread(model: Mapping[str, Any]) -> None:
    """Say, beside another network than the paper's, which keys of the section model are set, and not read."""
    usual = import_module("vanishing_variance.results.paper").PAPERS_SETUP  # not above: it imports pandas
    keys = {f"model.{key}": value for key, value in model.items() if key != "epsilon"}
    others = [key for key, value in keys.items() if value != usual[key]]
    if others:
        say(f"warning: {', '.join(others)}: read by network paper alone; another has options of its own")


def takes_attention(network: Any) -> bool:
    """Return whether a network takes an attention map; one that there is not takes none."""
    if network == PAPER:
        return True
    plan = import_module("vanishing_variance.plain.plan")  # torch, as above
    return network in registry.names("networks") and plan.takes_attention(network)


def check_read(network: str, keys: Iterable[str]) -> None:
    """Raise InputError where some of the keys, which were set beside another network, only the paper's reads."""
    for key in keys:
        unread = not takes_attention(network) if key == "attention" else key.startswith("model.")
        if unread and key != "model.epsilon":
            plan = import_module("vanishing_variance.plain.plan")  # torch, as above
            options = ", ".join(plan.option_kinds(network)) or "none"
            raise InputError(f"network {network} does not read {key}; its options are network_options: {options}")


def _of_options(params: Params) -> Iterator[str]:
    """Yield a line for an option that a normaliser or an attention map does not take."""
    if not params.norm_options and not params.attention_options:
        return
    variant = import_module("vanishing_variance.engine.variant")  # torch, as above
    try:
        variant.made("norms", params.norm, params.norm_options)
        variant.made("attentions", params.attention, params.attention_options)
    except InputError as problem:
        yield str(problem)


def _listed(lengths: list[int]) -> str:
    return ", ".join(map(str, lengths))


def changed(document: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with other values at dotted keys. Raises InputError, which names a key that it lacks."""
    result = copy.deepcopy(dict(document))
    opened: list[Any] = []
    for key, value in values.items():
        *sections, last = str(key).split(".")
        is_option = bool(OPTION.search(str(key)))
        section = result
        if is_option:
            section.setdefault(sections[0], {})
        try:
            for name in sections:
                if section[name] is None:  # as ranges.long.growth may be
                    section[name] = {}
                    opened.append(section[name])
                section = section[name]
            is_new = is_option or any(section is other for other in opened)
            known = isinstance(section, Mapping) and (is_new or last in section)
        except (KeyError, TypeError):
            known = False
        if not known:
            choices = f"; choose from {', '.join(map(str, section))}" if isinstance(section, Mapping) else ""
            raise InputError(f"{PATH}: it has no key {key}{choices}")
        section[last] = value
    return result
