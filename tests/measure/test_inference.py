from collections import Counter

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.inference.sequences import of_training_lengths, sample_batches
from vanishing_variance.measure.inference.temperature import adaptive_beta, entropy
from vanishing_variance.tasks.dictionary import Dictionary

TASK = Dictionary(key_classes=64, value_classes=4)
TOGETHER = 5


def keys(sequences, size):
    return [batch["key"] for batch in sample_batches(TASK, stream(0, "here"), sequences, 8, size)]


@pytest.mark.parametrize("sequences", [1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER])
def test_more_sequences_begin_as_fewer_whatever_the_batches(sequences, monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.inference.sequences.ITEMS_DRAWN", 8 * TOGETHER)
    more = np.concatenate(keys(4 * TOGETHER, TOGETHER))
    fewer = np.concatenate(keys(sequences, 3))
    assert_array_equal(fewer, more[:sequences])
    assert max(len(batch) for batch in keys(sequences, 3)) <= 3


def test_training_lengths_are_uniform_over_the_range():
    lengths = Range(shortest=3, longest=9)
    drawn = Counter()
    for batch in of_training_lengths(TASK, stream(0, "here"), 700, lengths, lambda length: 10):
        sequences, length = batch["key"].shape
        assert sequences <= 10
        drawn[length] += sequences
    assert sorted(drawn) == [3, 4, 5, 6, 7, 8, 9]
    assert stats.chisquare(list(drawn.values())).pvalue > 0.001


def test_beta_is_the_published_polynomial_where_it_sharpens():
    h = np.linspace(0, 12, 2001)
    polynomial = np.polyval([-0.037, 0.481, -2.3, 4.917, -1.791], h)
    expected = np.where(h > 0.5, np.maximum(polynomial, 1.0), 1.0)
    found = adaptive_beta(torch.from_numpy(h)).numpy()
    assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_entropy_is_scipys_in_nats():
    logits = torch.randn(4, 3, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 4
    weights = torch.softmax(logits, -1).numpy()
    assert_allclose(entropy(logits).numpy(), stats.entropy(weights, axis=-1), rtol=0, atol=1e-12)
    assert entropy(torch.zeros(1, 16)).item() == pytest.approx(np.log(16))
    assert entropy(torch.tensor([[0.0, 1e4]])).item() == 0  # not NaN
