import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats

from vanishing_variance.measure.inference.temperature import adaptive_beta, entropy


def test_beta_is_the_published_polynomial_where_it_sharpens():
    h = np.linspace(0, 12, 2001)
    polynomial = np.polyval([-0.037, 0.481, -2.3, 4.917, -1.791], h)
    expected = np.where(h > 0.5, np.maximum(polynomial, 1.0), 1.0)
    found = adaptive_beta(torch.from_numpy(h)).numpy()
    assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_entropy_is_scipys_in_nats():
    logits = torch.randn(4, 3, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 4
    weights = torch.softmax(logits, -1).numpy()
    assert_allclose(entropy(logits).numpy(), stats.entropy(weights, axis=-1), rtol=0, atol=1e-12)
    assert entropy(torch.zeros(1, 16)).item() == pytest.approx(np.log(16))
    assert entropy(torch.tensor([[0.0, 1e4]])).item() == 0  # not NaN
