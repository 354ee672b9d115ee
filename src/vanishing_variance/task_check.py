"""The check of a task before anything is trained on it: a few sequences of some lengths, and their labels.

B sequences, N items.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec
from numbers import Integral
from typing import Any

import numpy as np

from vanishing_variance import tasks
from vanishing_variance.engine import registry
from vanishing_variance.engine.drawing import LABEL, labels_of, sample
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.run import PAPER
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TARGET, Embedded, Number, OneHot, Sequences, Task, count, name_of
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.harness.progress import say

# Sequences of a length; fewer where they are long.
SEQUENCES = 64
ITEMS = 2**17
# The part of the labels that may change with the order of the items, for rounding and ties.
MOST_CHANGED = 0.1
# Classes that a network can have, and items of a sequence.
MOST_CLASSES = MOST_ITEMS = 2**24


def check_task(
    task: Task, name: str, trained: Range, tested: Sequence[int] = (), *, in_order: bool, sequences: int = SEQUENCES
) -> None:
    """Raise InputError for the first thing that is wrong, at training lengths and beyond, of `tested` the ends.

    `in_order`: of `reads_order`; `sequences`: of a tested length.
    """
    check_declared(task, name)
    longest = MOST_ITEMS if task.longest is None else task.longest
    if longest < trained.longest:
        raise InputError(f"task {name}: its longest sequence has {longest} items, and training {trained.longest}")
    ends = [min(tested), max(tested)] if tested else [2 * trained.longest]
    looked_at = {}
    for length in sorted({trained.shortest, trained.longest, *(min(longest, length) for length in ends)}):
        of_training = trained.shortest <= length <= trained.longest
        number = SEQUENCES if of_training else min(SEQUENCES, sequences, max(2, ITEMS // length))
        looked_at[length] = _looked_at(task, name, number, length, in_order)
        other = sample(task, stream(0, "check", name, 1), number, length)
        if length >= trained.shortest and _alike(looked_at[length], other):  # shorter ones may be alike
            why = "sample returns the same sequences whatever the generator; it must draw from rng"
            raise InputError(f"task {name}: {why}")
    with in_one_line(f"task {name}: its file, read again,"):
        again = _read_again(task)
    if not _alike(_looked_at(again, name, SEQUENCES, trained.longest, in_order), looked_at[trained.longest]):
        why = "its file, read again, differs: it was edited since, or draws outside sample without a seed"
        raise InputError(f"task {name}: {why}")
    labels = np.concatenate([drawn[LABEL] for drawn in looked_at.values()])
    if np.all(labels == labels[0]):
        say(f"warning: task {name}: all labels are {labels[0]}; there is nothing to learn")
    elif not _depends_on_items(task, looked_at[trained.longest]):
        say(f"warning: task {name}: its labels do not depend on the items")


def reads_order(network: Any, attention: Any) -> bool:
    """Return whether models may read in which order the items are: of the paper's network, if its map does."""
    if network != PAPER:
        return True
    if attention in registry.softmax_names():
        return False
    if isinstance(attention, str):
        attention = registry.load("attentions", attention)
    # here: it loads torch
    return bool(import_module("vanishing_variance.engine.trial").map_reads_order(attention))


def check_declared(task: Task, name: str) -> None:
    """Raise InputError for what a task declares and cannot be."""
    with in_one_line(f"task {name}"):
        for problem in _of_declaration(task):
            raise InputError(f"task {name}: {problem}")


def _of_declaration(task: Task) -> Iterator[str]:
    for what in ("items", "query"):
        if not isinstance(getattr(task, what), Mapping):
            yield f"{what} is {shown(getattr(task, what))}; must be Number(), OneHot or Embedded by name"
    if not task.items:
        yield "it has no items; an item consists of Number, OneHot or Embedded by name"
    features = [*task.items.items(), *task.query.items()]
    names = [name for name, _ in features]
    for name, feature in features:
        if not isinstance(name, str) or names.count(name) > 1 or name in (TARGET, LABEL):
            yield f"{name} is no name for an array of items or query; it is another's"
        yield from _of_feature(task, name, feature)
    yield from _of_classes(task, "label_classes", getattr(task, "label_classes", None), 2)
    yield from _of_tables(task)
    if not _is_whole(task.num_classes, 2):
        yield f"num_classes is {shown(task.num_classes)}; must be 2 to {MOST_CLASSES}"
    if task.longest is not None and not _is_whole(task.longest, 1):
        yield f"longest is {shown(task.longest)}; must be a whole number from 1 on, or None"


def _of_tables(task: Task) -> Iterator[str]:
    rows: dict[str, int] = {}
    for name, feature in {**task.item_features, **task.query_features}.items():
        if isinstance(feature, Embedded):
            classes = count(feature)
            others = rows.setdefault(feature.table, classes)
            if classes != others:
                yield f"{name} has {classes} classes, and others of table {feature.table} {others}"


def _of_feature(task: Task, name: str, feature: Any) -> Iterator[str]:
    if not isinstance(feature, Number | OneHot | Embedded):
        yield f"{name} is {shown(feature)}; must be Number(), OneHot or Embedded, with their classes"
    elif not isinstance(feature, Number):
        yield from _of_classes(task, f"classes of {name}", feature.classes, 1)
    elif not _is_whole(feature.width, 1):
        yield f"width of {name} is {shown(feature.width)}; must be a whole number from 1 on"
    if isinstance(feature, Embedded) and (not isinstance(feature.table, str) or not feature.table.isidentifier()):
        yield f"table of {name} is {shown(feature.table)}; must be a name of letters, digits and _"


def _of_classes(task: Task, what: str, classes: Any, least: int) -> Iterator[str]:
    size = getattr(task, classes, None) if isinstance(classes, str) else classes
    if not _is_whole(size, least):
        parameters = ", ".join(type(task).model_fields) or "none"
        allowed = f"{least} to {MOST_CLASSES}, or the name of a parameter that is: {parameters}"
        found = f"{classes}, {shown(size)}" if isinstance(classes, str) and size is not None else shown(classes)
        yield f"{what} is {found}; must be {allowed}"


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= MOST_CLASSES


def _looked_at(task: Task, name: str, number: int, length: int, in_order: bool) -> Sequences:
    """Return some sequences with their labels. Raises InputError where these are not decided as they have to be."""
    batch, again = (sample(task, stream(0, "check", name, 0), number, length) for _ in range(2))
    if not _alike(batch, again):
        why = "sample returns other sequences where the generator is the same; it must draw from rng alone"
        raise InputError(f"task {name}: {why}")
    labels = labels_of(task, batch)
    if not _alike(batch, again):
        raise InputError(f"task {name}: label changes the arrays that it is given")
    with in_one_line(f"task {name}: label of {number} sequences of {length} items"):
        for problem in _of_labels(task, batch, labels, in_order):
            raise InputError(f"task {name}: {problem}")
    return batch | {LABEL: labels}


def _read_again(task: Task) -> Task:
    """Return a task of tasks/ as another process reads it, from its file; any other as it is."""
    kind = type(task)
    spec = sys.modules[kind.__module__].__spec__ if kind.__module__ == f"{tasks.__name__}.{name_of(task)}" else None
    if spec is None or spec.loader is None:
        return task
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    again: Task = getattr(module, kind.__name__)(**dict(task))
    return again


def _of_labels(task: Task, batch: Sequences, labels: np.ndarray, in_order: bool) -> Iterator[str]:
    """Yield a line for labels that a sequence's own arrays do not decide."""
    rng = stream(0, "check", "order")
    rows = rng.permutation(len(labels))
    half = rows[: len(rows) // 2]
    for some in filter(len, (rows, half)):
        if not np.array_equal(task.label({name: array[some] for name, array in batch.items()}), labels[some]):
            yield "label is another where a sequence stands elsewhere; its own arrays must decide it"
    if in_order or len(labels) < SEQUENCES:
        return
    reordered = task.label(_reordered(task, batch, rng))
    if np.mean(reordered != labels) > MOST_CHANGED:
        yield "label depends on the order of the items, which network paper does not read; let a Number say the place"


def _reordered(task: Task, batch: Sequences, rng: np.random.Generator) -> Sequences:
    """Return the same sequences with their items in another order, and with what `label` alone reads of each item."""
    length = batch[next(iter(task.items))].shape[1]
    order = rng.permutation(length)
    reordered = dict(batch)
    for name, array in batch.items():
        if name in task.items or (name not in task.query and array.shape[1:2] == (length,)):
            reordered[name] = array[:, order]
    if TARGET in batch:
        reordered[TARGET] = np.argsort(order)[batch[TARGET]]
    return reordered


def _depends_on_items(task: Task, batch: Sequences) -> bool:
    """Return whether other items give other labels, as far as that can be seen without what `label` alone reads."""
    if batch.keys() - task.items.keys() - task.query.keys() - {TARGET, LABEL}:
        return True
    others = np.roll(np.arange(len(batch[LABEL])), 1)
    mixed = {name: array[others] if name in task.items else array for name, array in batch.items()}
    del mixed[LABEL]
    with suppress(Exception):  # of any kind: it may not take items that do not fit the query
        return not np.array_equal(task.label(mixed), batch[LABEL])
    return True


def _alike(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in other) and other.keys() <= one.keys()
