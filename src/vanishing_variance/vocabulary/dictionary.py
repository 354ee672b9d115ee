"""dictionary lookup with keys drawn with replacement, so that the items are i.i.d., and one key queried always.

That key is in few sequences that are short beside the number of keys, and many times in those that are long.
"""

from collections.abc import Iterator

import numpy as np

from vanishing_variance.tasks.base import Sequences
from vanishing_variance.tasks.dictionary import Dictionary

QUERY = 0

# What a part of the enumeration holds at most, for 256 values at most: its hidden layers are in memory at once.
ITEMS_IN_PART = 2**16


def draw(task: Dictionary, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
    """`key` (B, N) int16, `value` (B, N) uint8, `query` (B,) int16 (a key class), the same for all."""
    return {
        "key": rng.integers(task.key_classes, size=(sequences, length), dtype=np.int16),
        "value": rng.integers(task.value_classes, size=(sequences, length), dtype=np.uint8),
        "query": np.full(sequences, QUERY, dtype=np.int16),
    }


def enumerated(task: Dictionary) -> Iterator[Sequences]:
    """Every key beside every value, some keys at a time."""
    size = ITEMS_IN_PART // task.value_classes
    for first in range(0, task.key_classes, size):
        keys = np.arange(first, min(first + size, task.key_classes), dtype=np.int16)
        yield {
            "key": keys.repeat(task.value_classes)[None],
            "value": np.tile(np.arange(task.value_classes, dtype=np.uint8), len(keys))[None],
            "query": np.full(1, QUERY, dtype=np.int16),
        }
