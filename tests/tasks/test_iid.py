import numpy as np
import pytest
from scipy import stats
from small import DATA

from vanishing_variance.core import registry
from vanishing_variance.core.seeding import stream
from vanishing_variance.tasks.argmax import task as argmax
from vanishing_variance.tasks.argmax.task import Argmax
from vanishing_variance.tasks.dictionary import task as dictionary
from vanishing_variance.tasks.dictionary.task import Dictionary

KEYS = Dictionary(key_classes=40, value_classes=8)


def together(enumerated, name):
    parts = [part[name] for part in enumerated]
    assert all(part.shape[0] == 1 for part in parts)
    return np.concatenate(parts, axis=1)[0].astype(np.float64)


@pytest.mark.parametrize("in_part", [8, 8 * 12, 2**16])
def test_every_key_stands_beside_every_value_once(in_part, monkeypatch):
    monkeypatch.setattr(dictionary, "ITEMS_IN_PART", in_part)
    parts = list(KEYS.enumerate_iid())
    assert max(part["key"].size for part in parts) <= in_part
    keys, values = together(parts, "key"), together(parts, "value")
    assert sorted(zip(keys, values, strict=True)) == [(key, value) for key in range(40) for value in range(8)]


def test_the_papers_dictionary_has_a_million_items():
    task = Dictionary(key_classes=16384, value_classes=64)
    assert sum(part["key"].size for part in task.enumerate_iid()) == 2**20


def test_every_class_stands_beside_the_same_midpoints():
    parts = list(Argmax(classes=3).enumerate_iid())
    classes, priorities = together(parts, "class"), together(parts, "priority").reshape(3, -1)
    assert np.bincount(classes.astype(int)).tolist() == [argmax.PRIORITIES] * 3
    assert (priorities == priorities[0]).all()
    for power in (1, 2, 3):  # the moments of U(0, 1)
        assert (priorities[0] ** power).mean() == pytest.approx(1 / (power + 1), rel=1e-6)


def test_an_enumerated_item_is_like_a_drawn_one_and_all_are_asked_the_same(task_name):
    task = registry.load_task(task_name).TASK(**DATA[task_name])
    drawn = task.sample_iid(stream(0, "here"), 6, 50)
    sampled = task.sample(stream(0, "here"), 6, 50)
    for part in task.enumerate_iid():
        assert {name: (array.dtype, array.ndim) for name, array in part.items()} == {
            name: (array.dtype, array.ndim) for name, array in drawn.items()
        }
        assert set(part["query"]) == set(drawn["query"]) == {registry.load_task(task_name).IID_QUERY}
    assert {name: (array.dtype, array.shape) for name, array in drawn.items()} == {
        name: (array.dtype, array.shape) for name, array in sampled.items() if name != "target"
    }


@pytest.mark.parametrize("length", [2, 40, 400])
def test_keys_are_drawn_with_replacement_and_independently(length):
    keys = KEYS.sample_iid(stream(0, "keys", length), 80_000 // length, length)["key"]
    assert stats.chisquare(np.bincount(keys.ravel(), minlength=40)).pvalue > 1e-4
    pairs = np.bincount(keys[:, 0].astype(int) * 40 + keys[:, -1], minlength=1600).reshape(40, 40)
    repeated, possible = np.trace(pairs), pairs.sum()
    assert stats.binomtest(int(repeated), int(possible), 1 / 40).pvalue > 1e-4
    assert length < 40 or all(len(set(row)) < 40 for row in keys[:, :40])


def test_values_priorities_and_classes_are_uniform():
    values = KEYS.sample_iid(stream(0, "values"), 100, 300)["value"]
    assert stats.chisquare(np.bincount(values.ravel(), minlength=8)).pvalue > 1e-4
    drawn = Argmax(classes=5).sample_iid(stream(0, "priorities"), 100, 300)
    assert stats.chisquare(np.bincount(drawn["class"].ravel(), minlength=5)).pvalue > 1e-4
    assert stats.kstest(drawn["priority"].ravel(), "uniform").pvalue > 1e-4
