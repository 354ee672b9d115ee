import numpy as np
import pytest
from scipy import stats

from vanishing_variance.core.seeding import stream
from vanishing_variance.tasks.dictionary.task import Dictionary, distinct

TASK = Dictionary(key_classes=16384, value_classes=64)


@pytest.mark.parametrize("length", [1, 16, 256, 4096, 4097, 16384])
def test_the_keys_of_a_sequence_differ_and_the_label_stands_beside_the_query(length):
    batch = TASK.sample(stream(0, "dictionary", length), 40, length)
    assert {name: array.shape for name, array in batch.items()} == {
        "key": (40, length),
        "value": (40, length),
        "query": (40,),
        "target": (40,),
    }
    assert (np.diff(np.sort(batch["key"], axis=1), axis=1) > 0).all()
    assert batch["key"].min() >= 0
    assert batch["key"].max() < 16384
    rows = np.arange(40)
    assert (batch["key"][rows, batch["target"]] == batch["query"]).all()
    assert (TASK.label(batch) == batch["value"][rows, batch["target"]]).all()


def test_as_many_items_as_keys_hold_every_key():
    keys = TASK.sample(stream(0, "all"), 2, 16384)["key"]
    assert (np.sort(keys, axis=1) == np.arange(16384)).all()
    assert (keys[0] != keys[1]).any()


@pytest.mark.parametrize(("population", "length"), [(5, 1), (13, 3), (5, 4), (5, 5)])
def test_every_ordered_sample_is_equally_likely(population, length):
    """(5, 1) and (13, 3) are drawn by redrawing repeats, (5, 4) and (5, 5) row by row."""
    drawn = distinct(stream(0, "ordered", population, length), population, 200_000, length).astype(np.int64)
    possible = np.prod(np.arange(population, population - length, -1))
    counts = np.unique(drawn @ population ** np.arange(length), return_counts=True)[1]
    assert len(counts) == possible
    assert stats.chisquare(counts).pvalue > 1e-4


def test_long_rows_of_the_papers_keys_are_uniform_at_every_place():
    """Above 10,000 numbers numpy shuffles a part of them, below it draws sets."""
    drawn = distinct(stream(0, "long"), 16384, 600, 4097)
    for place in (0, 1, 2048, 4096):
        assert stats.kstest(drawn[:, place] / 16384, "uniform").pvalue > 1e-4
    assert abs(stats.pearsonr(drawn[:, 0], drawn[:, 4096]).statistic) < 4.5 / 600**0.5


def test_values_and_targets_are_uniform():
    batch = TASK.sample(stream(0, "uniform"), 5000, 8)
    assert stats.chisquare(np.bincount(batch["value"].ravel(), minlength=64)).pvalue > 1e-4
    assert stats.chisquare(np.bincount(batch["target"], minlength=8)).pvalue > 1e-4
    assert stats.kstest(batch["key"].ravel() / 16384, "uniform").pvalue > 1e-4


def test_a_sequence_is_not_longer_than_there_are_keys():
    assert TASK.longest == 16384
