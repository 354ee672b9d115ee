"""Test sequences that are drawn where they are read, as in a study, of whichever task."""

from collections.abc import Iterator, Sequence
from functools import partial

from vanishing_variance.engine.task import Sequences, Task
from vanishing_variance.measure.held_out import held_out_stream
from vanishing_variance.measure.inference.sequences import Read, of_length


def drawn_sequences(
    task: Task, task_name: str, root_seed: int, sequences: int, lengths: Sequence[int]
) -> dict[int, Read]:
    """Return the test sequences by length, those that the stage `generate` stores, drawn where they are read."""
    return {length: partial(_drawn, task, task_name, root_seed, sequences, length) for length in lengths}


def _drawn(task: Task, task_name: str, root_seed: int, sequences: int, length: int, size: int) -> Iterator[Sequences]:
    yield from of_length(task, held_out_stream(root_seed, task_name, length), sequences, length, size)
