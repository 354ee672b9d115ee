"""Training batches: fresh sequences at every step, of one length a step (Section 3, B.1, B.2).

S seeds, B sequences a batch. The sequence of lengths is shared by all seeds, and nothing else is.
"""

from collections.abc import Iterator, Sequence
from itertools import count, islice

import numpy as np
import torch
from torch import Tensor

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import Task

# Sequences are drawn for this many steps at a time, from a stream of their own for each seed: a generator call a step
# and seed would cost more than the step. Whole draws are always used, so a longer run begins as a shorter one does
# (unless lengths grow, whose growth a longer run stretches).
STEPS_PER_DRAW = 256


def lengths(plan: TrainingPlan, number: int) -> np.ndarray:
    """Return the lengths of the steps of one draw (`number`, from 0), the same for all seeds: (STEPS_PER_DRAW,).

    Uniform up to `longest`, or where the range grows, up to what it has grown to at each step (B.2).
    """
    rng = stream(plan.root_seed, "lengths", plan.variant.task_name, plan.range_name, number)
    shortest, growth = plan.lengths.shortest, plan.lengths.growth
    if growth is None:
        return rng.integers(shortest, plan.lengths.longest, endpoint=True, size=STEPS_PER_DRAW)
    steps = number * STEPS_PER_DRAW + np.arange(STEPS_PER_DRAW)
    grown = np.minimum(steps / (growth.until * plan.steps), 1)
    if growth.shape == "linear":
        longest = growth.start + grown * (plan.lengths.longest - growth.start)
    else:
        longest = growth.start * (plan.lengths.longest / growth.start) ** grown
    # rounded before its floor is taken: 16 * (256 / 16)^1 must not be 255.99999999999997
    choices = np.floor(longest.round(6)) - shortest + 1
    above: np.ndarray = (rng.random(STEPS_PER_DRAW) * choices).astype(np.int64)
    return shortest + above


def batches(plan: TrainingPlan, seeds: Sequence[int], made: int = 0) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
    """Yield training batches, without end, after the first `made`: arrays (S, B, ...) by name, and labels (S, B)."""
    for number in count(made // STEPS_PER_DRAW):
        name = ("train", plan.variant.task_name, plan.range_name)
        streams = [stream(plan.root_seed, *name, seed, number) for seed in seeds]
        steps = lengths(plan, number)
        unused = {
            length: _draw(plan, streams, length, often)
            for length, often in zip(*(of.tolist() for of in np.unique(steps, return_counts=True)), strict=True)
        }
        drawn = (next(unused[length]) for length in steps.tolist())
        yield from islice(drawn, max(0, made - number * STEPS_PER_DRAW), None)


def _draw(
    plan: TrainingPlan, streams: list[np.random.Generator], length: int, steps: int
) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
    """Yield `steps` batches of one length, each seed's from its own stream."""
    size = plan.training.batch_size
    arrays, labels = _drawn(plan.variant.task, streams, length, steps * size)
    for first in range(0, steps * size, size):
        part = np.s_[:, first : first + size]
        batch = {name: torch.from_numpy(array[part]) for name, array in arrays.items()}
        yield batch, torch.from_numpy(labels[part])


def _drawn(
    task: Task, streams: list[np.random.Generator], length: int, sequences: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return each seed's sequences, (S, sequences, ...) by name, and labels; only one seed's are in memory twice."""
    arrays: dict[str, np.ndarray] = {}
    labels = np.empty((len(streams), sequences), np.int64)
    for seed, rng in enumerate(streams):
        one = task.sample(rng, sequences, length)
        if seed == 0:
            arrays = {name: np.empty((len(streams), *array.shape), array.dtype) for name, array in one.items()}
        for name, together in arrays.items():
            together[seed] = one[name]
        labels[seed] = task.label(one)
        del one  # before the next seed's are drawn
    return arrays, labels
