import math

import numpy as np
import pytest
import torch
from scipy import special
from scipy.optimize import brentq

from vanishing_variance.attentions import logn, power, softmax, ssmax, stickbreaking
from vanishing_variance.engine import registry

EPSILON = torch.finfo(torch.float32).eps
SIMPLEX = ("sparsemax", "entmax15", "entmax", "asentmax")
OTHERS = ("sigmoid", "normalised", "stickbreaking", "length_gain", "l2")
WEIGHTED = {name: registry.load("attentions", name) for name in (*SIMPLEX, *OTHERS)}
INITIAL = {
    "ssmax": {"scale": 0.43},
    "power": {"scale": 1.0, "exponent": 0.0},
    "entmax": {"alpha_logit": 0.0},
    "asentmax": {"beta": 0.55, "gamma": 0.0},
    "normalised": {"gain": 1.0, "bias": 0.0},
    "length_gain": {"exponent": 0.5},
}
# for each of two seeds, and none the initial values
LEARNED = {
    "alpha_logit": [-2.0, 1.5],
    "beta": [0.3, 1.2],
    "gamma": [0.7, -1.5],
    "gain": [2.0, -0.5],
    "bias": [0.25, -0.1],
    "exponent": [0.5, -0.8],
}


def learned(module, dtype=torch.float64):
    return {name: torch.tensor(LEARNED[name], dtype=dtype).view(2, 1, 1) for name in module.LEARNABLE}


def drawn(*shape, scale=1.0, seed=0):
    return scale * torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def on_simplex(logits, alpha):
    """Return the alpha-entmax by its definition, the threshold by bracketing."""
    scaled = (alpha - 1) * (logits - logits.max())

    def weights(tau):
        return np.maximum(scaled - tau, 0) ** (1 / (alpha - 1))

    return weights(brentq(lambda tau: weights(tau).sum() - 1, -1, 0, xtol=1e-16, rtol=1e-15))


def of_stick(logits):
    left, weights = 1.0, np.zeros_like(logits)
    for place in reversed(range(len(logits))):
        weights[place] = left * special.expit(logits[place])
        left *= 1 - special.expit(logits[place])
    return weights


def expected(name, logits, numbers):
    """Return the weights of one sequence by the equation in the module's docstring; `numbers` learned by its seed."""
    items = len(logits)
    if name == "entmax":
        return on_simplex(logits, 1 + special.expit(numbers["alpha_logit"]))
    if name == "asentmax":
        return on_simplex(logits * (1 + numbers["beta"] * math.log(items + 1) ** numbers["gamma"]), 1.5)
    if name == "normalised":
        return numbers["gain"] * (logits - logits.mean()) / (logits.std() + 0.001) + numbers["bias"]
    if name == "l2":
        return special.softmax(logits) / np.linalg.norm(special.softmax(logits))
    if name == "length_gain":
        return (items / 16) ** numbers["exponent"] * special.softmax(logits)
    equations = {
        "sparsemax": lambda: on_simplex(logits, 2.0),
        "entmax15": lambda: on_simplex(logits, 1.5),
        "sigmoid": lambda: 1 / (1 + items * np.exp(-logits)),
        "stickbreaking": lambda: of_stick(logits),
    }
    return equations[name]()


def test_initial_values():
    names = registry.names("attentions")
    assert set(WEIGHTED) | {"softmax", "logn", "ssmax", "power"} == set(names)
    for name in names:
        assert dict(registry.load("attentions", name).LEARNABLE) == INITIAL.get(name, {})


@pytest.mark.parametrize("items", [1, 2, 16, 16384])
def test_factors_follow_the_equation(items):
    values = {"scale": np.array([[[0.43]], [[-2.0]]]), "exponent": np.array([[[0.5]], [[-1.0]]])}
    given = {name: torch.from_numpy(array) for name, array in values.items()}
    assert softmax.scale(items, {}) == 1
    assert logn.scale(items, {}) == pytest.approx(np.log(items), rel=1e-14)
    np.testing.assert_allclose(ssmax.scale(items, given), values["scale"] * np.log(items), rtol=1e-14)
    power_of_items = values["scale"] * float(items) ** values["exponent"]
    np.testing.assert_allclose(power.scale(items, given), power_of_items, rtol=1e-13)


@pytest.mark.parametrize(("items", "spread"), [(1, 1.0), (2, 10.0), (16, 0.01), (300, 1.0), (300, 10.0)])
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_follow_the_equation(name, items, spread):
    logits, parameters = drawn(2, 3, items, scale=spread) + 0.5, learned(WEIGHTED[name])
    weights = WEIGHTED[name].weights(logits, parameters).numpy()
    for seed, sequence in np.ndindex(2, 3):
        numbers = {key: values[seed].item() for key, values in parameters.items()}
        by_equation = expected(name, logits[seed, sequence].numpy(), numbers)
        np.testing.assert_allclose(weights[seed, sequence], by_equation, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", WEIGHTED)
def test_gradients(name):
    module, logits = WEIGHTED[name], drawn(2, 2, 6, scale=0.7).requires_grad_()
    parameters = {key: value.requires_grad_() for key, value in learned(module).items()}

    def weights(logits, *values):
        return module.weights(logits, dict(zip(parameters, values, strict=True)))

    assert torch.autograd.gradcheck(weights, (logits, *parameters.values()))


@pytest.mark.parametrize(("items", "spread", "offset"), [(1, 0.0, 1e4), (16384, 0.01, 1e4), (16384, 1.0, 0.0)])
@pytest.mark.parametrize("name", WEIGHTED)
def test_float32_at_many_items_and_large_logits(name, items, spread, offset):
    module = WEIGHTED[name]
    logits = (drawn(2, 1, items, scale=spread) + offset).float().requires_grad_()
    parameters = {key: value.requires_grad_() for key, value in learned(module, torch.float32).items()}
    weights = module.weights(logits, parameters)
    (weights * drawn(2, 1, items, seed=1).float()).sum().backward()
    assert weights.dtype == torch.float32
    assert all(leaf.grad.isfinite().all() for leaf in (logits, *parameters.values()))

    exact = module.weights(logits.double(), {key: value.double() for key, value in parameters.items()})
    if name in SIMPLEX:
        # a rounding error for each of the 14 levels of a pairwise sum; the power 1 / (alpha - 1) is 8 of the first seed
        assert (weights >= 0).all()
        assert (weights.double() - exact).abs().sum(-1).max() < 300 * EPSILON
    elif name == "normalised":
        torch.testing.assert_close(weights.double(), exact, rtol=0, atol=1e-4)
    else:
        # a logit of 1e4 is rounded to 1 / 1024, and a gain is at most 32
        torch.testing.assert_close(weights.double(), exact, rtol=1e-2 if offset else 1e-4, atol=1e-36)


def test_stickbreaking_keeps_what_is_small_beside_a_large_logit():
    logits = torch.tensor([[[2.0, 1.0, -0.3, 9000.0, 0.7, -1.1]]])
    weights = stickbreaking.weights(logits, {}).flatten()
    exact = of_stick(logits.double().flatten().numpy())
    assert exact[3] > 0.2
    torch.testing.assert_close(weights.double(), torch.tensor(exact), rtol=100 * EPSILON, atol=0)
