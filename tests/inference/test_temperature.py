import numpy as np
import pytest
import torch
from scipy import stats

from vanishing_variance.inference import temperature
from vanishing_variance.inference.temperature import UNCHANGED, Temperature, entropy, frame

PUBLISHED = [-0.037, 0.481, -2.3, 4.917, -1.791]


def test_beta_is_the_published_polynomial_where_it_sharpens():
    h = np.linspace(0, 12, 2001)
    expected = np.where(h > 0.5, np.maximum(np.polyval(PUBLISHED, h), 1.0), 1.0)
    np.testing.assert_allclose(temperature.PUBLISHED.beta(torch.from_numpy(h)).numpy(), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("h", "beta"), [(0.0, 1.0), (0.5, 1.0), (1.0, 1.27), (3.7, None), (4.4, None), (9.7, 1.0)])
def test_beta_at_chosen_entropies(h, beta):
    expected = np.polyval(PUBLISHED, h) if beta is None else beta
    assert temperature.PUBLISHED.beta(torch.tensor([h], dtype=torch.float64)).item() == pytest.approx(
        expected, abs=1e-9
    )


def test_beta_does_nothing_above_what_the_docstring_says():
    h = torch.linspace(0.5, 10, 100_001, dtype=torch.float64)
    sharpened = h[temperature.PUBLISHED.beta(h) > 1]
    assert sharpened.max().item() == pytest.approx(5.94, abs=0.01)
    assert h[temperature.PUBLISHED.beta(h).argmax()].item() == pytest.approx(4.4, abs=0.05)

    assert temperature.PUBLISHED.beta(h).max().item() == pytest.approx(2.42, abs=0.01)


def test_entropy_is_scipys_in_nats():
    logits = torch.randn(4, 3, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 4
    expected = stats.entropy(torch.softmax(logits, -1).numpy(), axis=-1)
    np.testing.assert_allclose(entropy(logits).numpy(), expected, rtol=0, atol=1e-12)
    assert entropy(torch.zeros(1, 16)).item() == pytest.approx(np.log(16))


def test_entropy_of_a_weight_of_one_is_zero_not_nan():
    assert entropy(torch.tensor([[0.0, 1e4]])).item() == 0


def test_outside_the_fitted_entropies_the_nearest_ones_beta_is_taken():
    fitted = Temperature((-2.0, 9.0), lowest=1.0, highest=3.0)
    h = torch.tensor([0.4, 0.6, 1.0, 2.0, 3.0, 9.0], dtype=torch.float64)
    assert fitted.beta(h).tolist() == [1.0, 7.0, 7.0, 5.0, 3.0, 3.0]


def test_unchanged_is_the_plain_softmax_at_every_entropy():
    assert (UNCHANGED.beta(torch.linspace(0, 12, 50)) == 1).all()


def test_the_temperatures_of_the_halves_are_rows_with_a_coefficient_a_power():
    full, flat = Temperature((4.0, 3.0, 2.0, 1.0, 0.5), 0.6, 7.0), Temperature((1.0,), 0.0, 0.0)
    found = frame({"first": (full, 90), "second": (flat, 2)})
    assert found["half"].tolist() == ["first", "second"]
    assert found.loc[0, ["mistakes", "p4", "p1", "p0", "lowest", "highest"]].tolist() == [90, 4.0, 1.0, 0.5, 0.6, 7.0]
    assert found.loc[1, ["p4", "p3", "p2", "p1", "p0"]].tolist() == [0, 0, 0, 0, 1]
