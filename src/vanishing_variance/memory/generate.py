"""What drawing the test sequences takes."""

from vanishing_variance.memory.drawn import drawn
from vanishing_variance.memory.need import Need, Term
from vanishing_variance.params.test import Test
from vanishing_variance.tasks.base import Task

# The sequences of one length, and what is to be written of them, laid out twice.
COPIES = 3


def generate(name: str, task: Task, test: Test) -> Need:
    """What drawing the sequences of a task takes, a length at a time while those of the last one are still there."""
    before, most = 0.0, 0.0
    for length in test.lengths:
        kept, drawing = drawn(task, length)
        most, before = max(most, before + max(drawing, COPIES * kept)), kept
    named = {"test.sequences": test.sequences, "test.lengths": test.lengths[-1]}
    return Need(name=f"generate {name}", data=(Term(test.sequences * most, named),))
