"""The check of a task before anything is trained on it: a few sequences of some lengths, and their labels.

B sequences, N items.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Shaped

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.run import PAPER
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TARGET, Embedded, Feature, Number, OneHot, Sequences, Task, count
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.memory import in_one_line

SEQUENCES = 64
LABEL = "label"
# The part of the labels that may change with the order of the items, for rounding and ties.
MOST_CHANGED = 0.1


def check_task(task: Task, name: str, trained: Range, tested: Sequence[int] = (), *, in_order: bool) -> None:
    """Raise InputError for the first thing that is wrong, at training lengths and beyond, of `tested` the ends.

    `in_order`: of `reads_order`.
    """
    ends = [min(tested), max(tested)] if tested else [2 * trained.longest]
    for problem in _problems(task, name, trained, ends, in_order):
        raise InputError(f"task {name}: {problem}")


def reads_order(network: Any, attention: str) -> bool:
    """Return whether models may read in which order the items are: of the paper's network, those with one map."""
    return network != PAPER or attention == "stickbreaking"


def _problems(task: Task, name: str, trained: Range, tested: Sequence[int], in_order: bool) -> Iterator[str]:
    yield from _of_declaration(task)
    longest = max(tested) if task.longest is None else task.longest
    if task.longest is not None and longest < trained.longest:
        yield f"its longest sequence has {longest} items, and training {trained.longest}"
    lengths = {trained.shortest, trained.longest, *(min(longest, length) for length in tested)}
    for length in sorted(lengths):
        with in_one_line(f"task {name}: sample(rng, {SEQUENCES}, {length})"):
            batch, again, other = (
                task.sample(stream(0, "check", name, number), SEQUENCES, length) for number in (0, 0, 1)
            )
        yield from _of_arrays(task, batch, length)
        if not _alike(batch, again):
            yield "sample returns other sequences where the generator is the same; it must draw from rng alone"
        if length >= trained.shortest and _alike(batch, other):  # shorter ones may be alike
            yield "sample returns the same sequences whatever the generator; it must draw from rng"
        with in_one_line(f"task {name}: label of {SEQUENCES} sequences of {length} items"):
            yield from _of_labels(task, batch, in_order)


def _of_declaration(task: Task) -> Iterator[str]:
    """Yield a line for what is declared and cannot be."""
    if not task.items:
        yield "it has no items; an item consists of Number, OneHot or Embedded by name"
    features = [*task.items.items(), *task.query.items()]
    names = [name for name, _ in features]
    for name, feature in features:
        if names.count(name) > 1 or name in (TARGET, LABEL):
            yield f"{name} is no name for an array of items or query; it is another's"
        if not isinstance(feature, Number | OneHot | Embedded):
            yield f"{name} is {shown(feature)}; must be a Number, OneHot or Embedded"
    declared = [(name, feature.classes) for name, feature in features if not isinstance(feature, Number)]
    sizes = [(f"classes of {name}", classes) for name, classes in declared]
    for what, classes in [*sizes, ("label_classes", getattr(task, "label_classes", None))]:
        size = getattr(task, classes, None) if isinstance(classes, str) else classes
        if not isinstance(size, int) or size < 2:
            parameters = ", ".join(type(task).model_fields) or "none"
            yield f"{what} is {shown(classes)}; must be 2 or more, or the name of a parameter that is: {parameters}"
    rows: dict[str, int] = {}
    for name, feature in {**task.item_features, **task.query_features}.items():
        if isinstance(feature, Embedded) and rows.setdefault(feature.table, count(feature)) != count(feature):
            yield f"{name} has {count(feature)} classes, and others of table {feature.table} {rows[feature.table]}"


def _of_arrays(task: Task, batch: Any, length: int) -> Iterator[str]:
    """Yield a line for arrays that are not those declared."""
    if not isinstance(batch, dict):
        yield f"sample returns {shown(batch)}; must return arrays by name"
    items, query = task.item_features, task.query_features
    for name in (items | query).keys() - batch.keys():
        yield f"sample returns no {name}, which items or query declares"
    for name in batch.keys() - (items | query).keys() - {TARGET}:
        yield f"sample returns {shown(name)}, which neither items nor query declares"
    for name, array in batch.items():
        shape = (SEQUENCES, length) if name in items else (SEQUENCES,)
        if not isinstance(array, np.ndarray) or array.shape != shape:
            found = getattr(array, "shape", type(array).__name__)
            yield f"{name} is {found}; must be an array {shape} of {SEQUENCES} sequences of {length} items"
        if name == TARGET:
            yield from _of_whole_numbers(name, array, length, ("int64",))
        else:
            yield from _of_values(name, array, (items | query)[name])


def _of_values(name: str, array: Shaped[np.ndarray, "B ..."], feature: Feature) -> Iterator[str]:
    if not isinstance(feature, Number):
        yield from _of_whole_numbers(name, array, count(feature), ("uint8", "int8", "int16", "int32", "int64"))
    elif array.dtype != np.float32:
        yield f"{name} is {array.dtype}; must be float32, as rng.random(size, dtype=np.float32)"
    elif not np.isfinite(array).all():
        yield f"{name} has numbers that are not finite"


def _of_whole_numbers(name: str, array: Shaped[np.ndarray, "B ..."], below: int, kinds: Sequence[str]) -> Iterator[str]:
    if array.dtype.name not in kinds:
        yield f"{name} is {array.dtype}; must be {' or '.join(kinds)}, as by astype(np.int64)"
    elif array.min() < 0 or array.max() >= below:
        yield f"{name} has {array.min()} to {array.max()}; must be from 0 to {below - 1}"


def _of_labels(task: Task, batch: Sequences, in_order: bool) -> Iterator[str]:
    """Yield a line for labels that are none, or that a sequence's own arrays do not decide."""
    before = {name: array.copy() for name, array in batch.items()}
    labels = task.label(batch)
    if not _alike(batch, before):
        yield "label changes the arrays that it is given"
    if not isinstance(labels, np.ndarray) or labels.shape != (SEQUENCES,):
        found = getattr(labels, "shape", type(labels).__name__)
        yield f"label returns {found}; must be an array {(SEQUENCES,)} of {SEQUENCES} sequences"
    yield from _of_whole_numbers(LABEL, labels, task.num_classes, ("int64",))

    rng = stream(0, "check", "order")
    rows = rng.permutation(SEQUENCES)
    half = rows[: SEQUENCES // 2]
    for some in (rows, half):
        if not np.array_equal(task.label({name: array[some] for name, array in batch.items()}), labels[some]):
            yield "label is another where a sequence stands elsewhere; its own arrays must decide it"
    reordered = task.label(_reordered(task, batch, rng))
    if not in_order and np.mean(reordered != labels) > MOST_CHANGED:
        yield "label depends on the order of the items, which network paper does not read; let a Number say the place"


def _reordered(task: Task, batch: Sequences, rng: np.random.Generator) -> Sequences:
    """Return the same sequences with their items in another order."""
    length = batch[next(iter(task.items))].shape[1]
    order = rng.permutation(length)
    reordered = dict(batch)
    for name in task.items:
        reordered[name] = batch[name][:, order]
    if TARGET in batch:
        reordered[TARGET] = np.argsort(order)[batch[TARGET]]
    return reordered


def _alike(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
