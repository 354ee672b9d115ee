import numpy as np
import pytest

from vanishing_variance.statistics.moments import variance


def test_a_case_worked_by_hand():
    """0, 0, 0, 4: the mean is 1, s^2 = 12 / 3 and m_4 = 84 / 4."""
    estimate, error = variance(np.array([[0.0], [0.0], [0.0], [4.0]]))
    assert estimate.tolist() == [4]
    assert error.tolist() == pytest.approx([((21 - 4**2 / 3) / 4) ** 0.5])


def test_the_variance_is_unbiased_and_its_error_is_how_much_it_varies():
    estimate, error = variance(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 8.0]]))
    assert estimate.tolist() == pytest.approx([7 / 3, 3])
    assert error.shape == (2,)
    drawn = np.random.default_rng(0).exponential(size=(200, 4000))  # heavy-tailed: a normal error would be half
    estimate, error = variance(drawn)
    assert estimate.mean() == pytest.approx(1, abs=0.01)
    assert estimate.std() == pytest.approx((8 / 200) ** 0.5, rel=0.05)
    assert np.sqrt((error**2).mean()) == pytest.approx(estimate.std(), rel=0.1)
    with pytest.raises(ValueError, match="two values"):
        variance(np.ones((1, 3)))
