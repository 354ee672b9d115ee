"""Training batches: fresh sequences at every step, of one length a step (Section 3, B.1, B.2).

S seeds, B sequences a batch. The sequence of lengths is shared by all seeds, and nothing else is.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vanishing_variance.engine.drawing import LABEL, draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import Task

# Applies a function to each of some things, as Python's `map` does.
MapFunction = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]

# Sequences are drawn for this many steps at a time, from a stream of their own for each seed: a generator call a step
# and seed would cost more than the step. Whole draws are always used, so a longer run begins as a shorter one does
# (unless lengths grow, whose growth a longer run stretches).
STEPS_PER_DRAW = 256

# Arrays (S, B, ...) by name, and labels (S, B).
LabelledBatch = tuple[dict[str, Tensor], Tensor]


def lengths(plan: TrainingPlan, number: int) -> np.ndarray:
    """Return the lengths of the steps of one draw (`number`, from 0), the same for all seeds: (STEPS_PER_DRAW,).

    Uniform up to `longest`, or where the range grows, up to what it has grown to at each step (B.2).
    """
    rng = stream(plan.root_seed, "lengths", plan.variant.task_name, plan.range_name, number)
    span = plan.lengths
    growth = span.growth
    if growth is None:
        return rng.integers(span.shortest, span.longest, endpoint=True, size=STEPS_PER_DRAW)
    start, end = growth.start, span.longest
    steps = number * STEPS_PER_DRAW + np.arange(STEPS_PER_DRAW)
    grown = np.minimum(steps / (growth.until * plan.steps), 1)
    linear, geometric = start + grown * (end - start), start * (end / start) ** grown
    longest = linear if growth.shape == "linear" else geometric
    # rounded before its floor is taken: 16 * (256 / 16)^1 must not be 255.99999999999997
    choices = np.floor(longest.round(6)) - span.shortest + 1
    above: np.ndarray = rng.random(STEPS_PER_DRAW) * choices
    return span.shortest + above.astype(np.int64)


def batches(
    plan: TrainingPlan, seeds: Sequence[int], completed: int = 0, map_seeds: MapFunction = map
) -> Iterator[LabelledBatch]:
    """Yield training batches, without end, after the `completed` steps.

    Of a task whose sequences are `independent`, the sequences of all steps of a length are drawn at the first of them;
    those of each seed by `map_seeds`, which may be the `map` of an executor. Of another, each batch is a sample.
    Raises InputError for what a task's own code does not do.
    """
    stream_name = "train", plan.variant.task_name, plan.range_name
    task, size = plan.variant.task, plan.training.batch_size
    for number in count(completed // STEPS_PER_DRAW):
        streams = [stream(plan.root_seed, *stream_name, seed, number) for seed in seeds]
        step_lengths = lengths(plan, number).tolist()
        unused: dict[int, list[LabelledBatch]] = {}
        for step, length in enumerate(step_lengths, number * STEPS_PER_DRAW):
            if not task.independent:
                [batch] = _draw(task, streams, length, 1, size, map)
            else:
                if length not in unused:
                    unused[length] = _draw(task, streams, length, step_lengths.count(length), size, map_seeds)
                batch = unused[length].pop(0)
            if step >= completed:
                yield batch


def _draw(
    task: Task, streams: Sequence[np.random.Generator], length: int, steps: int, batch_size: int, map_seeds: MapFunction
) -> list[LabelledBatch]:
    """Return the batches of some steps, the sequences of each seed from its own stream."""
    samples = list(map_seeds(lambda rng: draw(task, rng, steps * batch_size, length), streams))
    arrays = {name: _by_step([sample[name] for sample in samples], steps) for name in samples[0]}
    labels = arrays.pop(LABEL)
    drawn = []
    for step in range(steps):
        batch = {name: array[step] for name, array in arrays.items()}
        drawn.append((batch, labels[step]))
    return drawn


def _by_step(of_seeds: Sequence[np.ndarray], steps: int) -> Tensor:
    """Return (steps, S, B, ...) of each seed's (steps B, ...)."""
    parts = [array.reshape(steps, -1, *array.shape[1:]) for array in of_seeds]
    return torch.from_numpy(np.stack(parts, axis=1))
