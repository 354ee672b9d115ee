from collections import Counter

import numpy as np
import pytest
from scipy import stats

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.inference.sequences import of_training_lengths, sample_batches
from vanishing_variance.tasks.dictionary.task import Dictionary

TASK = Dictionary(key_classes=64, value_classes=4)
TOGETHER = 5


@pytest.fixture(autouse=True)
def _drawn_together(monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.inference.sequences.ITEMS_DRAWN", 8 * TOGETHER)


def keys(sequences, size, length=8):
    return [batch["key"] for batch in sample_batches(TASK, stream(0, "here"), sequences, length, size)]


@pytest.mark.parametrize("sequences", [1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER])
def test_more_sequences_begin_as_fewer_whatever_the_batches(sequences):
    more = np.concatenate(keys(4 * TOGETHER, TOGETHER))
    fewer = np.concatenate(keys(sequences, 3))
    np.testing.assert_array_equal(fewer, more[:sequences])


def test_a_batch_has_at_most_so_many_sequences():
    assert [len(batch) for batch in keys(2 * TOGETHER + 1, 3)] == [3, 2, 3, 2, 1]
    longer_than_drawn_together = 8 * TOGETHER + 1
    assert [len(batch) for batch in keys(3, 10, longer_than_drawn_together)] == [1, 1, 1]


def test_training_lengths_are_uniform_over_the_range():
    lengths = Range(shortest=3, longest=9)
    drawn = Counter()
    for batch in of_training_lengths(TASK, stream(0, "here"), 700, lengths, lambda length: 10):
        sequences, length = batch["key"].shape
        assert sequences <= 10
        drawn[length] += sequences
    assert sorted(drawn) == [3, 4, 5, 6, 7, 8, 9]
    assert stats.chisquare(list(drawn.values())).pvalue > 0.001
