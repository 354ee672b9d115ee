"""The test sequences of trained models: stored ones, or the same ones, drawn where they are read."""

from collections.abc import Iterator
from functools import partial

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.task import Sequences
from vanishing_variance.measure.held_out import Test, held_out_stream
from vanishing_variance.measure.inference.sequences import Read, of_length
from vanishing_variance.measure.inference.stored import open_sequences


def sequences_of(plan: TrainingPlan, test: Test, *, stored: bool) -> dict[int, Read]:
    """Return the test sequences by length: those that the stage `generate` has `stored`, or the same ones, drawn."""
    if stored:
        return open_sequences(plan.variant.task_name, test.lengths)
    return {length: partial(_drawn, plan, test.sequences, length) for length in test.lengths}


def _drawn(plan: TrainingPlan, sequences: int, length: int, size: int) -> Iterator[Sequences]:
    task, name = plan.variant.task, plan.variant.task_name
    yield from of_length(task, held_out_stream(plan.root_seed, name, length), sequences, length, size)
