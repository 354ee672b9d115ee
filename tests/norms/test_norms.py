import numpy as np
import pytest
import torch

from vanishing_variance.engine import registry

OUTPUTS = np.array([[1.0, 2.0, 3.0, 6.0], [-1.0, -1.0, 1.0, 1.0]])
VECTORS = {"scale": [1.0, 2.0, 0.5, -1.0], "shift": [0.0, 1.0, -1.0, 3.0], "centre": [0.5, 1.0, -1.0, 3.0]}
INITIAL = {"scale": 1.0, "shift": 0.0, "centre": 0.0}


def normalise(name, outputs, epsilon, parameters):
    module = registry.load_norm(name)
    given = {key: torch.as_tensor(parameters[key], dtype=torch.float64) for key in module.LEARNABLE}
    return module.normalise(torch.as_tensor(outputs), given, epsilon)


def expected(name, epsilon):
    scale, shift, centre = (np.array(VECTORS[key]) for key in ("scale", "shift", "centre"))
    standard = (OUTPUTS - OUTPUTS.mean(1, keepdims=True)) / (OUTPUTS.std(1, keepdims=True) + epsilon)

    def by_rms(array):
        return array / (np.sqrt((array**2).mean(1, keepdims=True)) + epsilon) * scale

    found = {"none": OUTPUTS, "std": standard, "ln": standard * scale + shift}
    return (found | {"rms": by_rms(OUTPUTS), "centred_rms": by_rms(OUTPUTS - centre)})[name]


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_each_follows_its_equation(norm_name, epsilon):
    found = normalise(norm_name, OUTPUTS, epsilon, VECTORS)
    np.testing.assert_allclose(found, expected(norm_name, epsilon), rtol=0, atol=1e-13)


def test_each_begins_without_an_effect_of_what_is_learned(norm_name):
    learnable = dict(registry.load_norm(norm_name).LEARNABLE)
    assert learnable == {key: INITIAL[key] for key in learnable}


def test_outputs_without_variance_have_a_gradient(norm_name):
    outputs = torch.zeros(2, 4, dtype=torch.float64, requires_grad=True)
    normalise(norm_name, outputs, 1e-5, {key: [value] * 4 for key, value in INITIAL.items()}).sum().backward()
    assert outputs.grad.isfinite().all()
