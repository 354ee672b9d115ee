import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from vanishing_variance.core.seeding import stream
from vanishing_variance.tasks.argmax.task import Argmax


def test_the_label_is_the_class_of_the_largest_priority_and_of_the_first_on_a_tie():
    batch = {
        "priority": np.array([[0.1, 0.9, 0.4], [0.5, 0.2, 0.5]], dtype=np.float32),
        "class": np.array([[4, 7, 1], [3, 9, 8]], dtype=np.uint8),
    }
    batch["target"] = batch["priority"].argmax(1)
    assert Argmax(classes=10).label(batch).tolist() == [7, 3]


def test_what_is_drawn():
    batch = Argmax(classes=10).sample(stream(0, "argmax"), 3000, 7)
    assert {name: (array.shape, str(array.dtype)) for name, array in batch.items()} == {
        "priority": ((3000, 7), "float32"),
        "class": ((3000, 7), "uint8"),
        "query": ((3000,), "float32"),
        "target": ((3000,), "int64"),
    }
    assert (batch["priority"].max(1) == batch["priority"][np.arange(3000), batch["target"]]).all()
    assert stats.kstest(batch["priority"].ravel(), "uniform").pvalue > 1e-4
    assert stats.kstest(batch["query"], "uniform").pvalue > 1e-4
    assert stats.chisquare(np.bincount(batch["class"].ravel(), minlength=10)).pvalue > 1e-4
    assert stats.chisquare(np.bincount(batch["target"], minlength=7)).pvalue > 1e-4
    assert abs(stats.pearsonr(batch["priority"].ravel(), batch["class"].ravel()).statistic) < 4.5 / np.sqrt(21000)


@pytest.mark.parametrize("classes", [1, 257, 2.5, "10", True])
def test_classes_must_be_a_whole_number_of_at_least_two(classes):
    with pytest.raises(ValidationError):
        Argmax(classes=classes)
