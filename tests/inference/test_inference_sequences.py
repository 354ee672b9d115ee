import numpy as np
import pytest

from vanishing_variance.core.seeding import stream
from vanishing_variance.inference.sequences import ITEMS_DRAWN, sample_batches
from vanishing_variance.tasks.dictionary.task import Dictionary

DICTIONARY = Dictionary(key_classes=16384, value_classes=64)
LENGTH = 1024
DRAWN_AT_ONCE = ITEMS_DRAWN // LENGTH


def keys(sequences, size):
    drawn = sample_batches(DICTIONARY, stream(0, "some", "stream"), sequences, LENGTH, size)
    return [part["key"] for part in drawn]


@pytest.mark.parametrize("sequences", [1, DRAWN_AT_ONCE - 1, DRAWN_AT_ONCE, DRAWN_AT_ONCE + 1, 3 * DRAWN_AT_ONCE])
def test_more_sequences_begin_as_fewer(sequences):
    more = np.concatenate(keys(4 * DRAWN_AT_ONCE, DRAWN_AT_ONCE))
    assert np.array_equal(np.concatenate(keys(sequences, 7)), more[:sequences])


def test_there_are_as_many_as_asked_for_and_in_no_batch_more():
    sizes = [len(part) for part in keys(DRAWN_AT_ONCE + 5, 10)]
    assert sum(sizes) == DRAWN_AT_ONCE + 5
    assert max(sizes) == 10


def test_a_sequence_longer_than_what_is_drawn_at_once_comes_alone(monkeypatch):
    monkeypatch.setattr("vanishing_variance.inference.sequences.ITEMS_DRAWN", LENGTH // 2)
    assert [len(part) for part in keys(3, 10)] == [1, 1, 1]
