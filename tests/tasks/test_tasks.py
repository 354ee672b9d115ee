"""Labels by a loop over the items, and the distribution of what is drawn."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from vanishing_variance.engine.streams import stream
from vanishing_variance.tasks import argmax, dictionary
from vanishing_variance.tasks.argmax import Argmax
from vanishing_variance.tasks.dictionary import Dictionary
from vanishing_variance.tasks.largest_of_kind import LargestOfKind
from vanishing_variance.tasks.majority import Majority
from vanishing_variance.tasks.membership import Membership

LARGE = Dictionary(key_classes=16384, value_classes=64)
TASKS = {
    "argmax": Argmax(classes=10),
    "dictionary": Dictionary(key_classes=40, value_classes=8),
    "majority": Majority(classes=3),
    "membership": Membership(key_classes=40, value_classes=7),
    "largest": LargestOfKind(),
}


def assert_uniform(drawn, classes):
    """Compare how often each class was drawn."""
    assert stats.chisquare(np.bincount(np.ravel(drawn), minlength=classes)).pvalue > 1e-4


def most_frequent(item):
    (first, count), *others = Counter(item["class"]).most_common()
    assert all(other < count for _, other in others)
    return first


def value_or_absent(item):
    return dict(zip(item["key"], item["value"], strict=True)).get(item["query"], 7)


def of_largest(item):
    place = max(range(len(item["class"])), key=item["priority"].__getitem__)
    assert item["target"] == place
    return item["class"][place]


def of_key(item):
    place = item["key"].index(item["query"])
    assert item["target"] == place
    return item["value"][place]


def of_largest_of_kind(item):
    places = [place for place, kind in enumerate(item["kind"]) if kind == item["query"]]
    place = max(places, key=item["priority"].__getitem__)
    assert item["target"] == place
    return item["class"][place]


LABELS = {
    "argmax": of_largest,
    "dictionary": of_key,
    "majority": most_frequent,
    "membership": value_or_absent,
    "largest": of_largest_of_kind,
}


@pytest.mark.parametrize("length", [1, 2, 16, 39])
@pytest.mark.parametrize("name", TASKS)
def test_the_label_is_what_a_loop_over_the_items_finds(name, length):
    task = TASKS[name]
    batch = task.sample(stream(0, name, length), 300, length)
    sequences = [{key: array[place].tolist() for key, array in batch.items()} for place in range(300)]
    assert task.label(batch).tolist() == [LABELS[name](sequence) for sequence in sequences]


class Coarse(np.random.Generator):
    """Draws eighths, of which the largest are often equal."""

    def random(self, *size, **options):
        return np.floor(8 * super().random(*size, **options)) / 8


def test_one_priority_is_the_largest_beyond_the_length_at_which_ties_are_left(monkeypatch):
    def sampled(ties_left):
        monkeypatch.setattr(argmax, "TIES_LEFT", ties_left)
        batch = TASKS["argmax"].sample(Coarse(np.random.PCG64(0)), 500, 6)
        return batch, (batch["priority"] == batch["priority"].max(axis=1, keepdims=True)).sum(axis=1)

    left, counts = sampled(6)
    redrawn, new_counts = sampled(5)
    assert set(new_counts) == {1} < set(counts)
    for name, values in redrawn.items():
        np.testing.assert_array_equal(values[counts == 1], left[name][counts == 1])


@pytest.mark.parametrize("kind", ["sample", "sample_iid"])
def test_priorities_and_classes_are_uniform_and_independent(kind):
    batch = getattr(TASKS["argmax"], kind)(stream(0, kind), 3000, 7)
    priorities, classes = batch["priority"].ravel(), batch["class"].ravel()
    assert stats.kstest(priorities, "uniform").pvalue > 1e-4
    assert_uniform(classes, 10)
    assert abs(stats.pearsonr(priorities, classes).statistic) < 4.5 / np.sqrt(21000)
    if kind == "sample":
        assert stats.kstest(batch["query"], "uniform").pvalue > 1e-4
    else:
        assert set(batch["query"]) == {argmax.IID_QUERY}


def test_of_iid_items_every_class_stands_beside_the_same_midpoints():
    parts = list(Argmax(classes=3).enumerate_iid())
    assert [set(part["class"].ravel()) for part in parts] == [{0}, {1}, {2}]
    for part in parts:
        [priorities] = part["priority"].astype(float)
        assert part["query"] == [argmax.IID_QUERY]
        assert len(priorities) == part["class"].size == argmax.PRIORITIES
        for power in (1, 2, 3):  # the moments of U(0, 1)
            assert (priorities**power).mean() == pytest.approx(1 / (power + 1), rel=1e-6)


@pytest.mark.parametrize("length", [1, 256, 4096, 4097, 16384])
def test_the_keys_of_a_sequence_differ(length):
    keys = LARGE.sample(stream(0, "dictionary", length), 20, length)["key"]
    assert keys.shape == (20, length)
    assert (np.diff(np.sort(keys, axis=1), axis=1) > 0).all()
    assert 0 <= keys.min() <= keys.max() < LARGE.longest == 16384


@pytest.mark.parametrize(("population", "length", "rows"), [(13, 3, 200_000), (5, 4, 10_000), (5, 5, 10_000)])
def test_every_ordered_sample_is_equally_likely(population, length, rows):
    """(13, 3) is drawn by redrawing repeats, the others row by row."""
    rng = stream(0, "ordered", population, length)
    drawn = dictionary.distinct(rng, population, rows, length).astype(np.int64)
    possible = np.prod(np.arange(population, population - length, -1))
    counts = np.unique(drawn @ population ** np.arange(length), return_counts=True)[1]
    assert len(counts) == possible
    assert stats.chisquare(counts).pvalue > 1e-4


def test_values_and_targets_are_uniform():
    task = TASKS["dictionary"]
    batch = task.sample(stream(0, "uniform"), 5000, 8)
    for drawn in (batch["value"], batch["target"], task.sample_iid(stream(0, "values"), 100, 300)["value"]):
        assert_uniform(drawn, 8)


@pytest.mark.parametrize("in_part", [8 * 12, 2**16])
def test_of_iid_items_every_key_stands_beside_every_value_once(in_part, monkeypatch):
    monkeypatch.setattr(dictionary, "ITEMS_IN_PART", in_part)
    parts = list(TASKS["dictionary"].enumerate_iid())
    assert max(part["key"].size for part in parts) <= in_part
    pairs = [pair for part in parts for pair in zip(part["key"][0].tolist(), part["value"][0].tolist(), strict=True)]
    assert {query for part in parts for query in part["query"].tolist()} == {dictionary.IID_QUERY}
    assert sorted(pairs) == [(key, value) for key in range(40) for value in range(8)]


@pytest.mark.parametrize("length", [2, 400])
def test_iid_keys_are_drawn_with_replacement_and_independently(length):
    batch = TASKS["dictionary"].sample_iid(stream(0, "keys", length), 80_000 // length, length)
    keys = batch["key"]
    assert set(batch["query"]) == {dictionary.IID_QUERY}
    assert_uniform(keys, 40)
    repeated = (keys[:, 0] == keys[:, -1]).sum()
    assert stats.binomtest(int(repeated), len(keys), 1 / 40).pvalue > 1e-4


@pytest.mark.parametrize("length", [2, 5, 16])
def test_every_majority_is_equally_likely_at_any_length(length):
    task = TASKS["majority"]
    assert_uniform(task.label(task.sample(stream(0, "majority", length), 6000, length)), 3)


def test_a_sequence_without_one_majority_is_drawn_again_as_a_whole():
    """Of 4 items and 2 classes the 10 sequences that are no tie are equally likely."""
    drawn = Majority(classes=2).sample(stream(0, "whole"), 8000, 4)["class"]
    counts = np.unique(drawn.astype(int) @ [1, 2, 4, 8], return_counts=True)[1]
    assert len(counts) == 10
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("length", [3, 80])
def test_half_of_the_sequences_have_the_queried_key_once_and_every_key_is_queried_as_often(length):
    task = TASKS["membership"]
    batch = task.sample(stream(0, "half", length), 8000, length)
    found = batch["key"] == batch["query"][:, None]
    assert set(found.sum(axis=1)) == {0, 1}
    labels = task.label(batch)
    absent = labels == 7
    assert stats.binomtest(int(absent.sum()), len(labels), 0.5).pvalue > 1e-4
    for part in (absent, ~absent):
        assert_uniform(batch["query"][part], 40)
    assert_uniform(labels[~absent], 7)
    assert_uniform(found.argmax(axis=1)[~absent], length)  # the place
    others = (batch["key"] - batch["query"][:, None]) % 40
    assert_uniform(others[~found] - 1, 39)


def test_kinds_classes_and_priorities_are_uniform():
    batch = TASKS["largest"].sample(stream(0, "kinds"), 5000, 7)
    assert_uniform(batch["kind"], 4)
    assert_uniform(batch["class"], 10)
    assert stats.kstest(batch["priority"].ravel(), "uniform").pvalue > 1e-4
