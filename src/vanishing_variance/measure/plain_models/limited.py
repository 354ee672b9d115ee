"""Test sequences of the plain engine's models, in batches that memory holds.

B sequences of a batch.
"""

import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import numpy as np
import psutil
import torch

from vanishing_variance.engine.device import device
from vanishing_variance.engine.drawing import LABEL, draw
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import Sequences
from vanishing_variance.harness import machine, memory
from vanishing_variance.harness.errors import TooLargeError
from vanishing_variance.harness.parallel import Report
from vanishing_variance.measure.held_out import held_out_stream
from vanishing_variance.measure.inference.models import ITEMS_IN_BATCH, to_device
from vanishing_variance.plain.model import Batch, PlainModel, initial_model
from vanishing_variance.plain.plan import PlainPlan

# What a batch may take of it; the rest is for other processes.
PART_OF_FREE_MEMORY = 0.8

Weights = Mapping[str, np.ndarray]
Answer = TypeVar("Answer")


def held_out(plan: PlainPlan, length: int, number: int) -> Sequences:
    """Draw `number` test sequences with their labels, those that the fast engine's models get."""
    rng = held_out_stream(plan.root_seed, plan.variant.task_name, length)
    return draw(plan.variant.task, rng, number, length)


def in_batches(
    answer: Callable[[Batch], Answer], plan: PlainPlan, length: int, sequences: Sequences, progress: Report
) -> list[Answer]:
    """Return what `answer` returns for each batch of sequences of a length; batches halve until memory is enough.

    `progress` is called with the items of each. Raises TooLargeError where it is not for one sequence.
    """
    answers: list[Answer] = []
    size = max(1, ITEMS_IN_BATCH[device().type] // length)
    first, number = 0, len(sequences[LABEL])
    while first < number:
        batch = {name: to_device(array[first : first + size]) for name, array in sequences.items()}
        try:
            with _noise(plan, length, first):
                answers.append(_limited(partial(answer, batch)))
            first += size
            progress(len(batch[LABEL]) * length)
        except Exception as problem:
            if not memory.ran_out(problem):
                raise
            if size == 1:
                what = f"network {plan.network_name} with one sequence of {length} items"
                raise TooLargeError(f"{what} needs more memory than there is; lower test.lengths") from None
            size //= 2
    return answers


def of_seed(weights: Weights, place: int) -> Weights:
    """Return the weights of the seed at a place."""
    return {name: np.asarray(array[place]) for name, array in weights.items()}


def model_of(plan: PlainPlan, seed: int, weights: Weights) -> PlainModel:
    """Return a seed's model with its weights, on the device."""
    model = initial_model(plan, seed)
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return model.to(device()).eval()


@contextmanager
def _noise(plan: PlainPlan, length: int, first: int) -> Iterator[None]:
    """Let a network that draws random numbers draw those of a batch, the same ones whatever was tested before."""
    with torch.random.fork_rng():
        name = plan.root_seed, "noise", plan.variant.task_name, "test", length, first
        torch.manual_seed(int(stream(*name).integers(2**63)))
        yield


def _limited(work: Callable[[], Answer]) -> Answer:
    """Return what `work` returns, without gradients, in a thread of its own, and let it fail beyond the free memory.

    Without a limit Linux grants any allocation, and kills this process when it is used. A thread in which oneDNN once
    had no memory for a kernel never makes another, so that the caller's own would be lost for all that follows.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(_work_limited, work, torch.get_num_threads()).result()


@torch.no_grad()
def _work_limited(work: Callable[[], Answer], threads: int) -> Answer:
    torch.set_num_threads(threads)  # which MKL counts for each thread that calls it
    if sys.platform != "linux" or device().type != "cpu":
        return work()
    before = resource.getrlimit(resource.RLIMIT_DATA)
    used = psutil.Process().memory_info().data
    # other seeds are tested at the same time, as many as there are cores, in other stages too
    most = used + int(PART_OF_FREE_MEMORY * memory.free_memory() / machine.cores())
    soft = most if before[0] == resource.RLIM_INFINITY else min(most, before[0])
    resource.setrlimit(resource.RLIMIT_DATA, (soft, before[1]))
    try:
        return work()
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
