import numpy as np
import pytest
from scipy import stats

from vanishing_variance.engine.streams import stream
from vanishing_variance.tasks import argmax as module
from vanishing_variance.tasks.argmax import Argmax


def test_the_label_is_the_class_of_the_largest_priority():
    task = Argmax(classes=10)
    batch = task.sample(stream(0, "label"), 50, 7)
    largest = [max(range(7), key=priority.__getitem__) for priority in batch["priority"]]
    assert batch["target"].tolist() == largest
    assert task.label(batch).tolist() == [row[place] for row, place in zip(batch["class"], largest, strict=True)]


class Coarse(np.random.Generator):
    """Draws eighths, of which the largest are often equal."""

    def random(self, *size, **options):
        return np.floor(8 * super().random(*size, **options)) / 8


def test_one_priority_is_the_largest_beyond_the_length_at_which_ties_are_left(monkeypatch):
    def sampled(ties_left):
        monkeypatch.setattr(module, "TIES_LEFT", ties_left)
        batch = Argmax(classes=10).sample(Coarse(np.random.PCG64(0)), 500, 6)
        return batch, (batch["priority"] == batch["priority"].max(axis=1, keepdims=True)).sum(axis=1)

    left, counts = sampled(6)
    redrawn, new_counts = sampled(5)
    assert set(new_counts) == {1} < set(counts)
    for name, values in redrawn.items():
        np.testing.assert_array_equal(values[counts == 1], left[name][counts == 1])


@pytest.mark.parametrize("kind", ["sample", "sample_iid"])
def test_priorities_and_classes_are_uniform_and_independent(kind):
    batch = getattr(Argmax(classes=10), kind)(stream(0, kind), 3000, 7)
    priorities, classes = batch["priority"].ravel(), batch["class"].ravel()
    assert stats.kstest(priorities, "uniform").pvalue > 1e-4
    assert stats.chisquare(np.bincount(classes, minlength=10)).pvalue > 1e-4
    assert abs(stats.pearsonr(priorities, classes).statistic) < 4.5 / np.sqrt(21000)
    if kind == "sample":
        assert stats.kstest(batch["query"], "uniform").pvalue > 1e-4
    else:
        assert set(batch["query"]) == {module.IID_QUERY}


def test_of_iid_items_every_class_stands_beside_the_same_midpoints():
    parts = list(Argmax(classes=3).enumerate_iid())
    assert [set(part["class"].ravel()) for part in parts] == [{0}, {1}, {2}]
    for part in parts:
        [priorities] = part["priority"].astype(float)
        assert part["query"] == [module.IID_QUERY]
        assert len(priorities) == part["class"].size == module.PRIORITIES
        for power in (1, 2, 3):  # the moments of U(0, 1)
            assert (priorities**power).mean() == pytest.approx(1 / (power + 1), rel=1e-6)
