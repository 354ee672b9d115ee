from collections import Counter

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from rounding import in_double
from scipy import stats
from torch.testing import assert_close

from vanishing_variance.engine.attend import attend
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.inference.models import sharpened
from vanishing_variance.measure.inference.sequences import of_training_lengths, sample_batches
from vanishing_variance.tasks.dictionary import Dictionary

SEEDS, SEQUENCES, WIDTH = 3, 4, 16
TASK = Dictionary(key_classes=64, value_classes=4)
TOGETHER = 5


@pytest.mark.parametrize("items", [1, 33, 200])
def test_the_sharpened_context_is_that_of_the_logits_times_beta(items):
    """Against softmax(beta logits) h in double precision; to the last bit as it was where beta is 1."""
    generator = torch.Generator().manual_seed(items)
    tensors = {
        "embedding": torch.randn(SEEDS, 5, WIDTH, generator=generator),
        "embedding_index": torch.randint(5, (1, SEQUENCES, items), generator=generator).byte(),
        "base": torch.randn(SEEDS, 1, WIDTH, generator=generator),
        "scale": torch.rand(1, SEQUENCES, items, generator=generator) * 4,
    }
    query = torch.randn(SEEDS, SEQUENCES, WIDTH, generator=generator)
    beta = torch.tensor([[1.0, 2.0, 1.0, 1.5], [1.0, 1.0, 1.0, 1.0], [3.0, 4.0, 3.0, 1.0]])
    logits, context = attend(Items(**tensors), query)
    found = sharpened(Items(**tensors), logits, beta, context)
    assert torch.equal(found[beta == 1], context[beta == 1])
    hidden = Items(**in_double(tensors)).hidden()
    weights = torch.softmax(beta.unsqueeze(-1) * logits.double(), -1)
    expected = (weights.unsqueeze(-2) @ hidden).squeeze(-2)
    assert_close(found.double(), expected, rtol=0, atol=1e-4 * hidden.abs().max().item())


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
