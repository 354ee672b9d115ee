"""Sequences of a task with their labels: the one place that calls a task's code, and looks at all that it returns.

B sequences, N items.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Shaped

from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TARGET, Feature, Number, Sequences, Task, count, name_of
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.memory import in_one_line

LABEL = "label"
# The part of the numbers and labels that another machine may round otherwise.
MOST_ROUNDED = 0.02
WHOLE = ("uint8", "int8", "int16", "int32", "int64")


def draw(task: Task, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
    """Return sequences, their LABEL among the arrays. Raises InputError, which names task, method and length."""
    sampled = sample(task, rng, sequences, length)
    labels = labels_of(task, sampled)
    return declared(task, sampled) | {LABEL: labels}


def looked_at(task: Task, number: int, length: int) -> Sequences:
    """Return some sequences with their labels, the same ones whenever they are drawn. Raises InputError."""
    return draw(task, stream("drawn", name_of(task), length), number, length)


def require_same(task: Task, drawn: Sequences) -> None:
    """Raise InputError where a task does not draw what `looked_at` returned elsewhere, but for rounding."""
    number, length = drawn[next(iter(task.items))].shape[:2]
    again = looked_at(task, number, length)
    for name, array in drawn.items():
        if np.mean(~np.isclose(array, again[name], rtol=1e-3, atol=1e-3)) > MOST_ROUNDED:
            why = "other sequences or labels in this process than in the one that trained"
            raise InputError(f"task {name_of(task)}: draws {why}, as where the order of a set decides; sort it")


def sample(task: Task, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
    """Return the arrays of a sample, copies that are dense. Raises InputError."""
    name = name_of(task)
    with in_one_line(f"task {name}: sample(rng, {sequences}, {length})"):
        returned = task.sample(rng, sequences, length)
        arrays = dict(returned) if isinstance(returned, dict) else returned
    del returned
    for problem in _of_arrays(task, arrays, sequences, length):
        raise InputError(f"task {name}: {problem}, in sequences of {length} items")
    # one at a time, so that there are never two of all; a task may use the memory again
    return {array: _dense(arrays.pop(array)) for array in list(arrays)}


def labels_of(task: Task, sampled: Sequences) -> Shaped[np.ndarray, " B"]:
    """Return the labels of a sample. Raises InputError."""
    name = name_of(task)
    number, length = sampled[next(iter(task.items))].shape[:2]
    with in_one_line(f"task {name}: label of {number} sequences of {length} items"):
        labels = task.label(dict(sampled))
    for problem in _of_labels(task, labels, number):
        raise InputError(f"task {name}: {problem}, of sequences of {length} items")
    return _dense(labels)


def declared(task: Task, sampled: Sequences) -> Sequences:
    """Return the arrays that a network reads, and the target, without those that are for `label` alone."""
    names = task.items.keys() | task.query.keys() | {TARGET}
    return {name: array for name, array in sampled.items() if name in names}


def _of_arrays(task: Task, arrays: Any, sequences: int, length: int) -> Iterator[str]:
    """Yield a line for arrays that are not those declared."""
    if not isinstance(arrays, dict):
        yield f"sample returns {shown(arrays)}; must return arrays by name"
    items, query = task.item_features, task.query_features
    for name in (items | query).keys() - arrays.keys():
        yield f"sample returns no {name}, which items or query declares"
    for name, array in arrays.items():
        feature = (items | query).get(name)
        shape: tuple[int, ...] = (sequences, length) if name in items else (sequences,)
        if isinstance(feature, Number) and feature.width > 1:
            shape = (*shape, feature.width)
        known = feature is not None or name == TARGET
        found = array.shape if isinstance(array, np.ndarray) else type(array).__name__
        if not isinstance(array, np.ndarray) or array.shape[: None if known else 1] != shape:
            wanted = f"{shape} of {sequences} sequences" + f" of {length} items" * (name in items)
            yield f"{shown(name)} is {found}; must be an array {wanted}"
        if name == TARGET:
            yield from _of_whole_numbers(name, array, length, ("int64",))
        elif name == LABEL:
            yield f"{LABEL} is no name for an array of a sample; it is another's"
        elif feature is not None:
            yield from _of_values(name, array, feature)


def _of_values(name: str, array: Shaped[np.ndarray, "B ..."], feature: Feature) -> Iterator[str]:
    if not isinstance(feature, Number):
        yield from _of_whole_numbers(name, array, count(feature), WHOLE)
    elif array.dtype != np.float32:
        yield f"{name} is {array.dtype}; must be float32, as rng.random(size, dtype=np.float32)"
    elif not np.isfinite(array).all():
        yield f"{name} has numbers that are not finite"


def _of_labels(task: Task, labels: Any, sequences: int) -> Iterator[str]:
    if not isinstance(labels, np.ndarray) or labels.shape != (sequences,):
        found = getattr(labels, "shape", type(labels).__name__)
        yield f"label returns {found}; must be an array {(sequences,)} of {sequences} sequences"
    yield from _of_whole_numbers(LABEL, labels, task.num_classes, ("int64",))


def _of_whole_numbers(name: str, array: Shaped[np.ndarray, "B ..."], below: int, kinds: Sequence[str]) -> Iterator[str]:
    if array.dtype.name not in kinds:
        yield f"{name} is {array.dtype}; must be {' or '.join(kinds)}, as by astype(np.int64)"
    elif array.size and (array.min() < 0 or array.max() >= below):
        yield f"{name} has {array.min()} to {array.max()}; must be from 0 to {below - 1}"


def _dense(array: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """Return a copy in the machine's order of bytes, whatever strides the array has."""
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C", subok=False)
