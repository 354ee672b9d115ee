import numpy as np
import pytest
from scipy.special import logit

from vanishing_variance.statistics.log_odds import log_odds


def test_they_are_the_logit_but_for_half_a_sequence():
    accuracy = np.array([[0.25, 0.9], [0.5, 0.999]])
    np.testing.assert_allclose(log_odds(accuracy, 10**9), logit(accuracy), rtol=1e-6)
    assert log_odds(np.array([0.5]), 7) == pytest.approx(0)


def test_they_are_finite_where_all_or_none_are_correct():
    np.testing.assert_allclose(log_odds(np.array([0.0, 1.0]), 512), [-np.log(1025), np.log(1025)])
