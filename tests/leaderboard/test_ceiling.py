import numpy as np
from numpy.testing import assert_allclose
from small import make_trained

from vanishing_variance.leaderboard.ceiling import class_offsets, predicted


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
    assert_allclose(found, [centred, -3 * centred], rtol=1e-4, atol=1e-9)


def test_the_prediction_is_how_often_no_class_passes_the_one_of_the_largest_priority():
    exponentials = np.array([[1.0, 2.0], [2.0, 1.0]])  # of two items of each draw, the first and then the second
    for offset, accuracy in ((0, 1), (2 / 512, 1), (3 / 512, 0.5)):
        assert predicted(np.array([[0, offset]]), 512, exponentials).tolist() == [accuracy]
