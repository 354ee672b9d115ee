"""Held-out sequences of the section `test`, the same for every seed and variant, and the memory for drawing them."""

from vanishing_variance.engine.sequence_memory import sequence_bytes
from vanishing_variance.engine.task import Task
from vanishing_variance.harness.memory import Need, Term
from vanishing_variance.harness.sections import Lengths, Section, Several


class Test(Section):
    """Test lengths in items, increasing; sequences a length, two or more, for standard errors over them."""

    __test__ = False  # not a test case: pytest would collect it by its name

    lengths: Lengths
    sequences: Several


# The sequences of one length, and their bytes on the way to the disk, laid out twice.
COPIES = 3


def memory_needed(name: str, task: Task, test: Test) -> Need:
    """Return the memory for drawing a task's sequences, a length at a time while those of the last are still held."""
    before, most = 0.0, 0.0
    for length in test.lengths:
        kept, drawing = sequence_bytes(task, length)
        most, before = max(most, before + max(drawing, COPIES * kept)), kept
    parameters = {"test.sequences": test.sequences, "test.lengths": test.lengths[-1]}
    return Need(name=f"generate {name}", data=(Term(test.sequences * most, parameters),))
