import numpy as np
import pytest
from scipy import stats

from vanishing_variance.engine.streams import stream
from vanishing_variance.tasks import dictionary as module
from vanishing_variance.tasks.dictionary import Dictionary, distinct

TASK = Dictionary(key_classes=16384, value_classes=64)
SMALL = Dictionary(key_classes=40, value_classes=8)


@pytest.mark.parametrize("length", [1, 256, 4096, 4097, 16384])
def test_the_keys_of_a_sequence_differ_and_the_label_stands_beside_the_query(length):
    batch = TASK.sample(stream(0, "dictionary", length), 20, length)
    assert batch["key"].shape == batch["value"].shape == (20, length)
    assert (np.diff(np.sort(batch["key"], axis=1), axis=1) > 0).all()
    assert batch["key"].min() >= 0
    assert batch["key"].max() < TASK.longest == 16384
    rows = np.arange(20)
    assert (batch["key"][rows, batch["target"]] == batch["query"]).all()
    assert (TASK.label(batch) == batch["value"][rows, batch["target"]]).all()


@pytest.mark.parametrize(("population", "length", "rows"), [(13, 3, 200_000), (5, 4, 10_000), (5, 5, 10_000)])
def test_every_ordered_sample_is_equally_likely(population, length, rows):
    """(13, 3) is drawn by redrawing repeats, the others row by row."""
    drawn = distinct(stream(0, "ordered", population, length), population, rows, length).astype(np.int64)
    possible = np.prod(np.arange(population, population - length, -1))
    counts = np.unique(drawn @ population ** np.arange(length), return_counts=True)[1]
    assert len(counts) == possible
    assert stats.chisquare(counts).pvalue > 1e-4


def test_values_and_targets_are_uniform():
    batch = SMALL.sample(stream(0, "uniform"), 5000, 8)
    for drawn in (batch["value"], batch["target"], SMALL.sample_iid(stream(0, "values"), 100, 300)["value"]):
        assert stats.chisquare(np.bincount(drawn.ravel(), minlength=8)).pvalue > 1e-4


@pytest.mark.parametrize("in_part", [8 * 12, 2**16])
def test_of_iid_items_every_key_stands_beside_every_value_once(in_part, monkeypatch):
    monkeypatch.setattr(module, "ITEMS_IN_PART", in_part)
    parts = list(SMALL.enumerate_iid())
    assert max(part["key"].size for part in parts) <= in_part
    pairs = [pair for part in parts for pair in zip(part["key"][0].tolist(), part["value"][0].tolist(), strict=True)]
    assert {query for part in parts for query in part["query"].tolist()} == {module.IID_QUERY}
    assert sorted(pairs) == [(key, value) for key in range(40) for value in range(8)]


@pytest.mark.parametrize("length", [2, 400])
def test_iid_keys_are_drawn_with_replacement_and_independently(length):
    batch = SMALL.sample_iid(stream(0, "keys", length), 80_000 // length, length)
    keys = batch["key"]
    assert set(batch["query"]) == {module.IID_QUERY}
    assert stats.chisquare(np.bincount(keys.ravel(), minlength=40)).pvalue > 1e-4
    repeated = (keys[:, 0] == keys[:, -1]).sum()
    assert stats.binomtest(int(repeated), len(keys), 1 / 40).pvalue > 1e-4
