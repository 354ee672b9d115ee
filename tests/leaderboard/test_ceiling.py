import numpy as np
import pytest
from made_up_board import accuracies
from small import make_trained

from vanishing_variance.engine.streams import stream
from vanishing_variance.leaderboard.ceiling import ceiling, class_offsets, predicted

EXPONENTIALS = stream(0, "x").exponential(size=(10_000, 10))


def test_offsets_are_those_that_a_network_was_given():
    """With features going straight into W_K, the logit is q (slope p + a number of the class), whatever q is."""
    trained, given = make_trained(projection="direct"), np.linspace(-1e-4, 2e-4, 10)
    query, key = trained.weights["attention.query"], trained.weights["attention.key"]
    for seed, times in ((0, 1), (1, -3)):
        key[seed, :, 0] = (seed + 1) * query[seed, :, 0]
        key[seed, :, 1:] = np.outer(key[seed, :, 0], given * times)
    centred = given - given.mean()
    found = class_offsets(trained.variant, trained.weights)
    np.testing.assert_allclose(found, [centred, -3 * centred], rtol=1e-4, atol=1e-9)


def test_the_prediction_is_the_accuracy_of_the_largest_shifted_priority():
    rng, offsets, items, drawn = np.random.default_rng(0), np.linspace(0, 0.004, 10)[None], 512, 4000
    priority, classes = rng.random((drawn, items)), rng.integers(10, size=(drawn, items))
    shifted = (priority + offsets[0][classes]).argmax(axis=1)
    rows = np.arange(drawn)
    measured = (classes[rows, shifted] == classes[rows, priority.argmax(axis=1)]).mean()
    assert 0.3 < measured < 0.8
    # both are means of yes and no: three standard errors; 1 / 51 of a class's items is left out by the limit
    assert predicted(offsets, items, EXPONENTIALS)[0] == pytest.approx(measured, abs=3 * 0.5 / drawn**0.5 + 0.02)
    # without offsets hard attention is always right
    assert predicted(np.zeros((1, 10)), 2**14, EXPONENTIALS).tolist() == [1.0]


def test_a_row_a_line_and_seed_beside_what_was_measured():
    accuracy = accuracies("a", (1, 1, 1, 0.5), "hard")
    found = ceiling({"a": np.zeros((6, 10))}, accuracy.sample(frac=1, random_state=0), stream(0, "x"))
    assert found["seed"].tolist() == list(range(6))
    assert set(found["length"]) == {16384}  # 2^11 was not tested
    assert found["hard"].tolist() == accuracy.query("length == 16384")["accuracy"].tolist()
    assert set(found["predicted"]) == {1}
