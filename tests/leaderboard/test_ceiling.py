import numpy as np
import pytest
from made_up_board import accuracies
from small import make_trained

from vanishing_variance.engine.streams import stream
from vanishing_variance.leaderboard.ceiling import ceiling, class_offsets, predicted


def test_offsets_are_those_that_a_network_was_given():
    """With features going straight into W_K, the logit is q (slope p + a number of the class), whatever q is."""
    trained = make_trained(projection="direct")
    given = np.linspace(-1e-4, 2e-4, 10)
    query, key = trained.weights["attention.query"], trained.weights["attention.key"]
    for seed, times in ((0, 1), (1, -3)):
        slope = (seed + 1) * query[seed, :, 0]
        key[seed, :, 0] = slope
        key[seed, :, 1:] = np.outer(slope, given * times)
    centred = given - given.mean()
    found = class_offsets(trained.variant, trained.weights)
    np.testing.assert_allclose(found, [centred, -3 * centred], rtol=1e-4, atol=1e-9)


def test_the_prediction_is_the_accuracy_of_the_largest_shifted_priority():
    rng = np.random.default_rng(0)
    exponentials = rng.exponential(size=(10_000, 10))
    items, drawn = 512, 4000
    offsets = np.linspace(0, 0.004, 10)
    priority = rng.random((drawn, items))
    classes = rng.integers(10, size=(drawn, items))
    shifted = priority + offsets[classes]
    rows = np.arange(drawn)
    answers = classes[rows, shifted.argmax(axis=1)]
    labels = classes[rows, priority.argmax(axis=1)]
    measured = (answers == labels).mean()
    assert 0.3 < measured < 0.8
    # both are means of yes and no: three standard errors; 1 / 51 of a class's items is left out by the limit
    off = 3 * 0.5 / drawn**0.5 + 0.02
    assert predicted(offsets[None], items, exponentials)[0] == pytest.approx(measured, abs=off)
    # without offsets hard attention is always right
    assert predicted(np.zeros((1, 10)), 2**14, exponentials).tolist() == [1.0]


def test_each_seed_has_its_prediction_beside_what_was_measured():
    accuracy = accuracies("a", (1, 1, 1, 0.5), "hard")
    found = ceiling({"a": np.zeros((6, 10))}, accuracy.sample(frac=1, random_state=0), stream(0, "x"))
    longest = accuracy[accuracy["length"] == 16384]
    assert found["seed"].tolist() == longest["seed"].tolist()
    assert found["hard"].tolist() == longest["accuracy"].tolist()
    assert set(found["predicted"]) == {1}
