import numpy as np

from vanishing_variance.statistics.rounding import rounding


def test_it_is_of_the_largest_whatever_its_sign():
    assert rounding(np.array([-200.0, 1.0]), np.array([3.0])) == 2e-10
    assert rounding(np.array([3.0]), np.array([[-200.0], [1.0]])) == 2e-10
    assert rounding(np.zeros(4)) == 0
