import numpy as np
import pytest
import torch
from scipy import special

from vanishing_variance.attentions import length_gain, power, softmax, ssmax
from vanishing_variance.engine import registry

INITIAL = {
    "softmax": {},
    "ssmax": {"scale": 0.43},
    "power": {"scale": 1.0, "exponent": 0.0},
    "length_gain": {"exponent": 0.5},
}


def test_initial_values():
    found = {name: dict(registry.load_attention(name).LEARNABLE) for name in registry.attention_names()}
    assert found == INITIAL


@pytest.mark.parametrize("items", [1, 2, 16, 16384])
def test_factors_follow_the_equation(items):
    values = {"scale": np.array([[[0.43]], [[-2.0]]]), "exponent": np.array([[[0.5]], [[-1.0]]])}
    given = {name: torch.from_numpy(array) for name, array in values.items()}
    assert softmax.scale(items, {}) == 1
    np.testing.assert_allclose(ssmax.scale(items, given), values["scale"] * np.log(items), rtol=1e-14)
    expected = values["scale"] * float(items) ** values["exponent"]
    np.testing.assert_allclose(power.scale(items, given), expected, rtol=1e-13)


def drawn(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("items", "spread"), [(1, 1.0), (16, 0.01), (300, 10.0)])
def test_the_gain_times_a_softmax_follows_the_equation(items, spread):
    logits, exponents = spread * drawn(2, 3, items), np.array([0.5, -0.8]).reshape(2, 1, 1)
    found = length_gain.weights(logits, {"exponent": torch.from_numpy(exponents)})
    expected = (items / 16) ** exponents * special.softmax(logits.numpy(), axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_gradient_of_the_gain():
    logits, exponents = drawn(2, 2, 6).requires_grad_(), drawn(2, 1, 1, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda z, gamma: length_gain.weights(z, {"exponent": gamma}), (logits, exponents))
