"""The tasks beside the paper's: labels by a loop over the items, and the distribution."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from vanishing_variance.engine.streams import stream
from vanishing_variance.tasks.largest_of_kind import LargestOfKind
from vanishing_variance.tasks.majority import Majority
from vanishing_variance.tasks.membership import Membership

SMALL = {
    "majority": Majority(classes=3),
    "membership": Membership(key_classes=40, value_classes=7),
    "largest": LargestOfKind(),
}


def most_frequent(item):
    (first, count), *others = Counter(item["class"]).most_common()
    assert all(other < count for _, other in others)
    return first


def value_or_absent(item):
    return dict(zip(item["key"], item["value"], strict=True)).get(item["query"], 7)


def largest(item):
    of_kind = [
        one for one in zip(item["priority"], item["class"], item["kind"], strict=True) if one[2] == item["query"]
    ]
    return max(of_kind)[1]


LABELS = {"majority": most_frequent, "membership": value_or_absent, "largest": largest}


@pytest.mark.parametrize("length", [1, 2, 16, 39])
@pytest.mark.parametrize("name", SMALL)
def test_the_label_is_what_a_loop_over_the_items_finds(name, length):
    batch = SMALL[name].sample(stream(0, name, length), 300, length)
    sequences = [{key: array[place].tolist() for key, array in batch.items()} for place in range(300)]
    assert SMALL[name].label(batch).tolist() == [LABELS[name](sequence) for sequence in sequences]


def test_every_majority_is_equally_likely_at_any_length():
    for length in (2, 5, 16):
        task = SMALL["majority"]
        labels = task.label(task.sample(stream(0, "majority", length), 6000, length))
        assert stats.chisquare(np.bincount(labels, minlength=3)).pvalue > 1e-4


def test_a_sequence_without_one_majority_is_drawn_again_as_a_whole():
    """Of 4 items and 2 classes the 10 sequences that are no tie are equally likely."""
    drawn = Majority(classes=2).sample(stream(0, "whole"), 8000, 4)["class"]
    counts = np.unique(drawn.astype(int) @ [1, 2, 4, 8], return_counts=True)[1]
    assert len(counts) == 10
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("length", [3, 80])
def test_half_of_the_sequences_have_the_queried_key_once_and_every_key_is_queried_as_often(length):
    task = SMALL["membership"]
    batch = task.sample(stream(0, "half", length), 8000, length)
    found = batch["key"] == batch["query"][:, None]
    assert set(found.sum(axis=1)) == {0, 1}
    labels = task.label(batch)
    absent = labels == 7
    assert stats.binomtest(int(absent.sum()), len(labels), 0.5).pvalue > 1e-4
    for part in (absent, ~absent):
        assert stats.chisquare(np.bincount(batch["query"][part], minlength=40)).pvalue > 1e-4
    assert stats.chisquare(np.bincount(labels[~absent])).pvalue > 1e-4
    assert stats.chisquare(np.bincount(found.argmax(axis=1)[~absent])).pvalue > 1e-4  # the place
    others = (batch["key"] - batch["query"][:, None]) % 40
    assert stats.chisquare(np.bincount(others[~found])[1:]).pvalue > 1e-4


def test_kinds_and_classes_are_uniform_and_the_target_is_of_the_queried_kind():
    task = SMALL["largest"]
    batch = task.sample(stream(0, "kinds"), 5000, 7)
    assert stats.chisquare(np.bincount(batch["kind"].ravel(), minlength=4)).pvalue > 1e-4
    assert stats.chisquare(np.bincount(batch["class"].ravel(), minlength=10)).pvalue > 1e-4
    assert stats.kstest(batch["priority"].ravel(), "uniform").pvalue > 1e-4
    kinds = np.take_along_axis(batch["kind"], batch["target"][:, None], axis=1)[:, 0]
    assert (kinds == batch["query"]).all()
