import numpy as np
import pytest

from vanishing_variance.statistics.moments import variance


def test_a_case_worked_by_hand():
    """0, 0, 0, 4: the mean is 1, s^2 = 12 / 3 and m_4 = 84 / 4."""
    estimate, error = variance(np.array([[0.0], [0.0], [0.0], [4.0]]))
    assert estimate.tolist() == [4]
    assert error.tolist() == pytest.approx([((21 - 4**2 / 3) / 4) ** 0.5])
