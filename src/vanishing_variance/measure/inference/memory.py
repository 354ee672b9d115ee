"""Memory of trained models: their weights, and a batch of sequences.

S models at once, B sequences, N items, D width.
"""

from collections.abc import Sequence
from math import prod

from vanishing_variance.engine.attention import ITEMS_AT_ONCE
from vanishing_variance.engine.device import device
from vanishing_variance.engine.sequence_memory import sequence_bytes
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.engine.variant import Variant
from vanishing_variance.measure.inference.sequences import ITEMS_DRAWN

FLOAT = 4
# In numbers of the model's width, the hidden layer of an item on its way.
DENSE = 5


def weight_bytes(variant: Variant, training: TaskTraining) -> int:
    """Return the bytes of one model's weights."""
    return FLOAT * sum(prod(tensor.shape) for tensor in variant.initial(training).values())


def table_bytes(variant: Variant, training: TaskTraining) -> int:
    """Return the bytes of what one model looks up, D numbers for each row of a table."""
    initial = variant.initial(training)
    return (
        FLOAT * variant.model.width * sum(initial[name].shape[0] for name in variant.network().embedding.SPARSE_TABLES)
    )


def dense_bytes(width: int) -> int:
    """Return the bytes for the items of which the hidden layer is dense at a time, where nothing is compiled."""
    return FLOAT * DENSE * width * ITEMS_AT_ONCE[device().type]


def largest_batch(lengths: Sequence[int], sequences: int, items: int) -> tuple[int, int]:
    """Return the items and the sequences of the largest batch: `items`, or one sequence, of at most `sequences`."""
    batches = [(length, min(sequences, max(1, items // length))) for length in lengths]
    return max(length * number for length, number in batches), max(number for _, number in batches)


def drawing_bytes(variant: Variant, longest: int) -> float:
    """Return the bytes for drawing the sequences of some batches."""
    return max(1, ITEMS_DRAWN / longest) * sequence_bytes(variant.task, longest)[1]
