import numpy as np
import pytest

from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.inference.sequences import sample_batches
from vanishing_variance.tasks.dictionary.task import Dictionary

PIECE = 5


@pytest.mark.parametrize("sequences", [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_more_sequences_begin_as_fewer_whatever_the_batches(sequences, monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.inference.sequences.ITEMS_DRAWN", 8 * PIECE)

    def keys(sequences, size, length=8):
        task = Dictionary(key_classes=64, value_classes=4)
        return [part["key"] for part in sample_batches(task, stream(0, "here"), sequences, length, size)]

    more = np.concatenate(keys(4 * PIECE, PIECE))
    np.testing.assert_array_equal(np.concatenate(keys(sequences, 3)), more[:sequences])
    assert [len(part) for part in keys(2 * PIECE + 1, 3)] == [3, 2, 3, 2, 1]
    assert [len(part) for part in keys(3, 10, 8 * PIECE + 1)] == [1, 1, 1]  # longer than what is drawn together
