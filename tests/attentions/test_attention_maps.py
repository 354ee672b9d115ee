import math

import numpy as np
import pytest
import torch
from scipy import special
from scipy.optimize import brentq
from scipy.special import expit

from vanishing_variance.attentions import (
    asentmax,
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
EQUIVARIANT = [name for name in WEIGHTED if name != "stickbreaking"]
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


def initial(module, seeds=2):
    return {name: torch.full((seeds, 1, 1), value) for name, value in module.LEARNABLE.items()}


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


def all_expected(name, logits, parameters):
    rows = [
        [expected(name, row.numpy(), {key: values[seed].item() for key, values in parameters.items()}) for row in rows]
        for seed, rows in enumerate(logits)
    ]
    return torch.tensor(np.array(rows))


@pytest.mark.parametrize("items", [1, 2, 5, 16, 300])
@pytest.mark.parametrize("spread", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_follow_the_equation(name, spread, items):
    logits, parameters = draw(2, 3, items, scale=spread) + 0.5, learned(WEIGHTED[name])
    found = WEIGHTED[name].weights(logits, parameters)
    torch.testing.assert_close(found, all_expected(name, logits, parameters), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", WEIGHTED)
def test_initial_values(name):
    start = {"entmax": {"alpha_logit": 0.0}, "asentmax": {"beta": 0.55, "gamma": 0.0}}
    start |= {"normalised": {"gain": 1.0, "bias": 0.0}, "length_gain": {"exponent": 0.5}}
    assert dict(WEIGHTED[name].LEARNABLE) == start.get(name, {})


def test_learned_alpha_lies_between_softmax_and_sparsemax():
    logits = draw(1, 4, 16, scale=0.5)

    def weights(logit):
        return entmax.weights(logits, {"alpha_logit": torch.full((1, 1, 1), logit, dtype=torch.float64)})

    torch.testing.assert_close(weights(0.0), entmax15.weights(logits, {}), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(weights(50.0), sparsemax.weights(logits, {}), rtol=1e-9, atol=1e-12)
    # alpha is 1.01: log w is off by 0.01 / 2 times the difference of the squares of log w, at most 5^2
    torch.testing.assert_close(weights(-50.0), torch.softmax(logits, -1), rtol=0.13, atol=0)
    torch.testing.assert_close(weights(-50.0), weights(math.log(0.01 / 0.99)), rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", WEIGHTED)
def test_gradients(name):
    module, logits = WEIGHTED[name], draw(2, 2, 6, scale=0.7).requires_grad_()
    parameters = {key: value.requires_grad_() for key, value in learned(module).items()}

    def call(logits, *values):
        return module.weights(logits, dict(zip(parameters, values, strict=True)))

    assert torch.autograd.gradcheck(call, (logits, *parameters.values()))


@pytest.mark.parametrize("name", EQUIVARIANT)
def test_order_does_not_matter(name):
    logits, parameters = draw(2, 3, 20), learned(WEIGHTED[name])
    order = torch.randperm(20, generator=torch.Generator().manual_seed(1))
    found = WEIGHTED[name].weights(logits[..., order], parameters)
    torch.testing.assert_close(found, WEIGHTED[name].weights(logits, parameters)[..., order], rtol=0, atol=1e-12)


def test_order_matters_to_stickbreaking():
    """Each of equal logits takes half of what is left, the last item first; the rest goes to none."""
    found = stickbreaking.weights(torch.zeros(1, 1, 4, dtype=torch.float64), {})
    torch.testing.assert_close(found.flatten(), torch.tensor([1, 2, 4, 8], dtype=torch.float64) / 16)


@pytest.mark.parametrize("offset", [0.0, 9999.37])
@pytest.mark.parametrize("items", [1, 3, 1000])
@pytest.mark.parametrize("name", EQUIVARIANT)
def test_equal_logits_get_equal_weights(name, items, offset):
    module, logits = WEIGHTED[name], torch.full((2, 3, items), offset, requires_grad=True)
    parameters = {key: value.requires_grad_() for key, value in learned(module, torch.float32).items()}
    found = module.weights(logits, parameters)
    share = 1 / items
    if name == "sigmoid":
        share = expit(offset - math.log(items))
    if name == "normalised":
        share = parameters["bias"].detach()
    if name == "length_gain":
        share = (items / 16) ** parameters["exponent"].detach() / items
    assert found.dtype == torch.float32
    # float32's rounding of alpha or of log N enters with a factor of at most log N
    torch.testing.assert_close(found.detach(), torch.zeros(2, 3, items) + share, rtol=100 * EPSILON, atol=0)
    (found * draw(2, 3, items).float()).sum().backward()
    assert all(leaf.grad.isfinite().all() for leaf in (logits, *parameters.values()))


@pytest.mark.parametrize("name", WEIGHTED)
def test_one_item_alone(name):
    logits, parameters = draw(2, 3, 1, scale=5.0), learned(WEIGHTED[name])
    alone = {"sigmoid": torch.sigmoid(logits), "stickbreaking": torch.sigmoid(logits)}
    alone["normalised"] = parameters["bias"] if name == "normalised" else None
    alone["length_gain"] = 16 ** -parameters["exponent"] if name == "length_gain" else None
    found = WEIGHTED[name].weights(logits, parameters)
    torch.testing.assert_close(found, torch.zeros_like(logits) + alone.get(name, 1.0), rtol=1e-12, atol=0)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("spread", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("name", WEIGHTED)
def test_many_items_and_large_logits_in_float32(name, spread, offset):
    module = WEIGHTED[name]
    logits = (draw(2, 2, 16384, scale=spread) + offset).float().requires_grad_()
    parameters = {key: value.requires_grad_() for key, value in learned(module, torch.float32).items()}
    found = module.weights(logits, parameters)
    assert found.dtype == torch.float32
    exact = module.weights(logits.double(), {key: value.double() for key, value in parameters.items()})
    if name in SIMPLEX:
        # a sum in float32 of at most 16,384 weights, pairwise: a rounding error for each of its 14 levels
        torch.testing.assert_close(found.double().sum(-1), torch.ones(2, 2).double(), rtol=0, atol=20 * EPSILON)
        assert (found >= 0).all()
        # alpha - 1 = 0.12 in the first seed: the power 1 / (alpha - 1) multiplies rounding errors by 8
        assert (found - exact).abs().sum(-1).max() < 100 * EPSILON
    if name == "sigmoid":
        # z - log N is rounded to half of float32's distance at |z|, 1 / 2048 at 1e4
        torch.testing.assert_close(found.double(), exact, rtol=1e-5 if offset + spread < 100 else 1e-3, atol=1e-37)
    if name == "normalised":
        torch.testing.assert_close(found.double(), exact, rtol=0, atol=1e-4)
    if name == "length_gain":
        # a logit of 1e4 is rounded to 1 / 2048; the gain is at most 32
        torch.testing.assert_close(found.double(), exact, rtol=1e-4 if offset + spread < 100 else 2e-3, atol=1e-37)
    if name == "stickbreaking":
        # the logarithm of what is left is a sum in float32, exact to log(1e-38) x rounding where the weight is not 0
        torch.testing.assert_close(found.double(), exact, rtol=1e-3, atol=1e-37)
        assert (found.double().sum(-1) <= 1 + 100 * EPSILON).all()
    (found * draw(2, 2, 16384, seed=1).float()).sum().backward()
    assert all(leaf.grad.isfinite().all() for leaf in (logits, *parameters.values()))


@pytest.mark.parametrize("gap", [1.9, 1.999])
@pytest.mark.parametrize("name", ["entmax15", "asentmax"])
def test_one_item_ahead_of_many_equal_ones_keeps_the_sum(name, gap):
    """In float32 the package's threshold loses up to 9e-4 of the sum."""
    module = WEIGHTED[name]
    scale = 1.55 if name == "asentmax" else 1.0
    logits = torch.zeros(2, 1, 16384)
    logits[..., 5] = gap / scale
    found = module.weights(logits, initial(module)).double()
    torch.testing.assert_close(found.sum(-1), torch.ones(2, 1).double(), rtol=0, atol=20 * EPSILON)


def test_stickbreaking_keeps_what_is_small_beside_a_large_logit():
    logits = torch.tensor([[[2.0, 1.0, -0.3, 9000.0, 0.7, -1.1]]])
    found = stickbreaking.weights(logits, {}).flatten()
    exact = of_stick(logits.double().flatten().numpy())
    assert exact[3] > 0.2
    torch.testing.assert_close(found.double(), torch.tensor(exact), rtol=10 * EPSILON, atol=0)


def parameters_of(module, values):
    return {name: torch.tensor(values[name], dtype=torch.float64) for name in module.LEARNABLE}


@pytest.mark.parametrize("items", [1, 2, 16, 16384])
def test_factors_follow_the_equation(items):
    values = {"scale": [0.43, -2.0], "exponent": [0.5, -1.0]}
    factors = {name: module.scale(items, parameters_of(module, values)) for name, module in SCALED.items()}
    assert factors["softmax"] == 1
    assert factors["logn"] == pytest.approx(np.log(items), rel=1e-15)
    np.testing.assert_allclose(factors["ssmax"], np.array([0.43, -2.0]) * np.log(items), rtol=1e-14)
    np.testing.assert_allclose(factors["power"], [0.43 * items**0.5, -2.0 / items], rtol=1e-14)


def test_initial_factors():
    start = {"ssmax": {"scale": 0.43}, "power": {"scale": 1.0, "exponent": 0.0}}
    for name, module in SCALED.items():
        assert dict(module.LEARNABLE) == start.get(name, {})
    found = power.scale(777, {name: torch.tensor([value]) for name, value in power.LEARNABLE.items()})
    torch.testing.assert_close(found, torch.ones(1), rtol=0, atol=0)
    lengths = range(5, 17)
    factors = [ssmax.scale(items, {"scale": torch.tensor([0.43])}).item() for items in lengths]
    # the number in the docstring of attentions/ssmax.py
    assert np.mean(factors) == pytest.approx(0.99, abs=0.005)


@pytest.mark.parametrize("items", [1, 16, 16384])
@pytest.mark.parametrize("name", ["ssmax", "power"])
def test_gradients_of_the_factors(name, items):
    module = SCALED[name]
    leaves = [torch.tensor([0.7, -0.3], dtype=torch.float64, requires_grad=True) for _ in module.LEARNABLE]

    def call(*values):
        return module.scale(items, dict(zip(module.LEARNABLE, values, strict=True)))

    assert torch.autograd.gradcheck(call, leaves)


@pytest.mark.parametrize("name", [*SCALED, *WEIGHTED])
def test_a_map_is_a_factor_or_weights(name):
    module = (SCALED | WEIGHTED)[name]
    assert hasattr(module, "scale") != hasattr(module, "weights")


@pytest.mark.parametrize("name", ["logn", "ssmax"])
def test_log_n_keeps_the_weight_of_a_fixed_gap(name):
    """A logit that is 1 above all others, the factor being log N: N / (2 N - 1) of the weight, whatever N is."""
    for items in (16, 16384):
        factor = SCALED[name].scale(items, {"scale": torch.tensor([1.0], dtype=torch.float64)})
        logits = np.zeros(items)
        logits[0] = 1.0
        assert special.softmax(logits * float(factor))[0] == pytest.approx(items / (2 * items - 1))


def test_length_gain_keeps_the_spread_of_a_mean():
    """Of values that are i.i.d. with variance 1 and equal weights: 1 / 16 at every length, that of 16 items."""
    for items in (16, 1024, 16384):
        found = length_gain.weights(torch.zeros(1, 1, items, dtype=torch.float64), initial(length_gain, seeds=1))
        assert found.square().sum().item() == pytest.approx(1 / 16, rel=1e-6)
