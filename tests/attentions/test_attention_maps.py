import math

import numpy as np
import pytest
import torch
from scipy import special
from scipy.optimize import brentq
from scipy.special import expit

from vanishing_variance.attentions import (
    asentmax,
    differential,
    entmax,
    entmax15,
    length_gain,
    logn,
    normalised,
    power,
    sigmoid,
    softmax,
    sparsemax,
    ssmax,
    stickbreaking,
)

EPSILON = torch.finfo(torch.float32).eps
SCALED = {"softmax": softmax, "logn": logn, "ssmax": ssmax, "power": power}
SIMPLEX = {"sparsemax": sparsemax, "entmax15": entmax15, "entmax": entmax, "asentmax": asentmax}
OTHERS = {"sigmoid": sigmoid, "normalised": normalised, "stickbreaking": stickbreaking, "length_gain": length_gain}
WEIGHTED = SIMPLEX | OTHERS
INITIAL = {
    "differential": {"lambda": 0.2},
    "ssmax": {"scale": 0.43},
    "power": {"scale": 1.0, "exponent": 0.0},
    "entmax": {"alpha_logit": 0.0},
    "asentmax": {"beta": 0.55, "gamma": 0.0},
    "normalised": {"gain": 1.0, "bias": 0.0},
    "length_gain": {"exponent": 0.5},
}
# For each of two seeds, and none the initial values.
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


def draw(*shape, scale=1.0, seed=0):
    return scale * torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def of_simplex(logits, alpha):
    """The definition, the threshold by bracketing; float64."""
    scaled = (alpha - 1) * (logits - logits.max())

    def masses(tau):
        return np.maximum(scaled - tau, 0) ** (1 / (alpha - 1))

    return masses(brentq(lambda tau: masses(tau).sum() - 1, -1, 0, xtol=1e-16, rtol=1e-15))


def of_stick(logits):
    left, found = 1.0, np.zeros_like(logits)
    for place in reversed(range(len(logits))):
        found[place] = left * expit(logits[place])
        left *= 1 - expit(logits[place])
    return found


def expected(name, logits, learned):
    """The weights of one sequence, `learned` being its seed's scalars, from the equation in the module's docstring."""
    items = len(logits)
    if name == "entmax":
        return of_simplex(logits, 1 + expit(learned["alpha_logit"]))
    if name == "asentmax":
        return of_simplex(logits * (1 + learned["beta"] * math.log(items + 1) ** learned["gamma"]), 1.5)
    if name == "normalised":
        standard = (logits - logits.mean()) / (logits.std() + 0.001)
        return learned["gain"] * standard + learned["bias"]
    if name == "length_gain":
        return (items / 16) ** learned["exponent"] * special.softmax(logits)
    return {
        "sparsemax": lambda: of_simplex(logits, 2.0),
        "entmax15": lambda: of_simplex(logits, 1.5),
        "sigmoid": lambda: 1 / (1 + items * np.exp(-logits)),
        "stickbreaking": lambda: of_stick(logits),
    }[name]()


@pytest.mark.parametrize(("items", "spread"), [(1, 1.0), (2, 10.0), (5, 1.0), (16, 0.01), (300, 1.0), (300, 10.0)])
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_follow_the_equation(name, items, spread):
    logits, parameters = draw(2, 3, items, scale=spread) + 0.5, learned(WEIGHTED[name])
    found = WEIGHTED[name].weights(logits, parameters).numpy()
    for seed in range(2):
        of_seed = {key: values[seed].item() for key, values in parameters.items()}
        for row, of_row in zip(found[seed], logits[seed].numpy(), strict=True):
            np.testing.assert_allclose(row, expected(name, of_row, of_seed), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("items", [1, 2, 16, 16384])
def test_factors_follow_the_equation(items):
    values = {"scale": np.array([0.43, -2.0]), "exponent": np.array([0.5, -1.0])}
    given = {name: torch.from_numpy(array) for name, array in values.items()}
    factors = {name: module.scale(items, given) for name, module in SCALED.items()}
    assert factors["softmax"] == 1
    assert factors["logn"] == pytest.approx(np.log(items), rel=1e-14)
    np.testing.assert_allclose(factors["ssmax"], values["scale"] * np.log(items), rtol=1e-14)
    np.testing.assert_allclose(factors["power"], values["scale"] * float(items) ** values["exponent"], rtol=1e-13)


@pytest.mark.parametrize("items", [1, 5, 300])
def test_weights_of_two_queries_follow_the_equation(items):
    logits, factors = draw(2, 2, 3, items, scale=4.0), torch.tensor([0.2, -1.5], dtype=torch.float64).view(2, 1, 1)
    first, second = (special.softmax(logits[:, query].numpy(), axis=-1) for query in (0, 1))
    found = differential.weights(logits, {"lambda": factors})
    np.testing.assert_allclose(found, first - factors.numpy() * second, rtol=1e-12, atol=1e-14)


def test_alpha_is_at_least_1_01():
    logits = draw(1, 1, 16)
    found = entmax.weights(logits, {"alpha_logit": torch.full((1, 1, 1), -50.0, dtype=torch.float64)})
    np.testing.assert_allclose(found[0, 0], of_simplex(logits[0, 0].numpy(), 1.01), rtol=1e-9)


def test_initial_values():
    for name, module in (SCALED | WEIGHTED | {"differential": differential}).items():
        assert dict(module.LEARNABLE) == INITIAL.get(name, {})


@pytest.mark.parametrize("name", WEIGHTED)
def test_gradients(name):
    module, logits = WEIGHTED[name], draw(2, 2, 6, scale=0.7).requires_grad_()
    parameters = {key: value.requires_grad_() for key, value in learned(module).items()}

    def call(logits, *values):
        return module.weights(logits, dict(zip(parameters, values, strict=True)))

    assert torch.autograd.gradcheck(call, (logits, *parameters.values()))


@pytest.mark.parametrize(
    ("items", "spread", "offset"),
    [(1, 0.0, 9999.37), (1000, 0.0, 9999.37), (16384, 0.01, 1e4), (16384, 1.0, 0.0), (16384, 1e4, 0.0)],
)
@pytest.mark.parametrize("name", WEIGHTED)
def test_equal_many_and_large_logits_in_float32(name, items, spread, offset):
    module = WEIGHTED[name]
    logits = (draw(2, 1, items, scale=spread) + offset).float().requires_grad_()
    parameters = {key: value.requires_grad_() for key, value in learned(module, torch.float32).items()}
    found = module.weights(logits, parameters)
    assert found.dtype == torch.float32
    (found * draw(2, 1, items, seed=1).float()).sum().backward()
    assert all(leaf.grad.isfinite().all() for leaf in (logits, *parameters.values()))
    exact = module.weights(logits.double(), {key: value.double() for key, value in parameters.items()})
    found, large = found.double(), offset + spread > 100
    if name in SIMPLEX:
        # a sum in float32 of at most 16,384 weights, pairwise: a rounding error for each of its 14 levels
        torch.testing.assert_close(found.sum(-1), torch.ones(2, 1).double(), rtol=0, atol=100 * EPSILON)
        assert (found >= 0).all()
        # alpha - 1 = 0.12 in the first seed: the power 1 / (alpha - 1) multiplies rounding errors by 8
        assert (found - exact).abs().sum(-1).max() < 300 * EPSILON
    elif name == "normalised":
        torch.testing.assert_close(found, exact, rtol=0, atol=1e-4)
    else:
        # a logit of 1e4 is rounded to half of float32's distance there, 1 / 1024, and a gain is at most 32
        torch.testing.assert_close(found, exact, rtol=1e-2 if large else 1e-4, atol=1e-36)


@pytest.mark.parametrize("name", ["entmax15", "asentmax"])
def test_one_item_ahead_of_many_equal_ones_keeps_the_sum(name):
    """In float32 the package's threshold loses up to 9e-4 of the sum."""
    module = WEIGHTED[name]
    parameters = {key: torch.full((2, 1, 1), value) for key, value in module.LEARNABLE.items()}
    logits = torch.zeros(2, 1, 16384)
    logits[:, 0, 5] = torch.tensor([1.9, 1.999]) / (1.55 if name == "asentmax" else 1.0)
    found = module.weights(logits, parameters).double()
    torch.testing.assert_close(found.sum(-1), torch.ones(2, 1).double(), rtol=0, atol=100 * EPSILON)


def test_stickbreaking_keeps_what_is_small_beside_a_large_logit():
    logits = torch.tensor([[[2.0, 1.0, -0.3, 9000.0, 0.7, -1.1]]])
    found = stickbreaking.weights(logits, {}).flatten()
    exact = of_stick(logits.double().flatten().numpy())
    assert exact[3] > 0.2
    torch.testing.assert_close(found.double(), torch.tensor(exact), rtol=100 * EPSILON, atol=0)
