import numpy as np
import pytest
import torch
from scipy import stats

from vanishing_variance.measure.inference.temperature import PUBLISHED, UNCHANGED, Temperature, entropy, frame


def test_beta_is_the_published_polynomial_where_it_sharpens():
    h = np.linspace(0, 12, 2001)
    polynomial = np.polyval([-0.037, 0.481, -2.3, 4.917, -1.791], h)
    expected = np.where(h > 0.5, np.maximum(polynomial, 1.0), 1.0)
    found = PUBLISHED.beta(torch.from_numpy(h)).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert (UNCHANGED.beta(torch.from_numpy(h)) == 1).all()


def test_entropy_is_scipys_in_nats():
    logits = torch.randn(4, 3, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 4
    weights = torch.softmax(logits, -1).numpy()
    np.testing.assert_allclose(entropy(logits).numpy(), stats.entropy(weights, axis=-1), rtol=0, atol=1e-12)
    assert entropy(torch.zeros(1, 16)).item() == pytest.approx(np.log(16))
    assert entropy(torch.tensor([[0.0, 1e4]])).item() == 0  # not NaN


def test_outside_the_fitted_entropies_the_nearest_ones_beta_is_taken():
    fitted = Temperature((-2.0, 9.0), lowest=1.0, highest=3.0)
    h = torch.tensor([0.4, 0.6, 1.0, 2.0, 3.0, 9.0], dtype=torch.float64)
    assert fitted.beta(h).tolist() == [1.0, 7.0, 7.0, 5.0, 3.0, 3.0]


def test_the_temperatures_of_the_halves_are_rows_with_a_coefficient_a_power():
    full, flat = Temperature((4.0, 3.0, 2.0, 1.0, 0.5), 0.6, 7.0, 90), Temperature((1.0,), 0.0, 0.0, 2)
    found = frame({"first": full, "second": flat}).set_index("half")
    assert found.loc["first", ["mistakes", "lowest", "highest"]].tolist() == [90, 0.6, 7.0]
    powers = found[["p4", "p3", "p2", "p1", "p0"]]
    assert powers.to_numpy().tolist() == [[4.0, 3.0, 2.0, 1.0, 0.5], [0, 0, 0, 0, 1]]
