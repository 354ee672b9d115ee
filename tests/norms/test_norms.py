from dataclasses import replace

import numpy as np
import pytest
import torch
from small import SHARP, Trained, make_trained, plainly, sample

from vanishing_variance.engine import registry

OUTPUTS = np.array([[1.0, 2.0, 3.0, 6.0], [-1.0, -1.0, 1.0, 1.0]])
VECTORS = {"scale": [1.0, 2.0, 0.5, -1.0], "shift": [0.0, 1.0, -1.0, 3.0], "centre": [0.5, 1.0, -1.0, 3.0]}
INITIAL = {"scale": 1.0, "shift": 0.0, "centre": 0.0}


def normalise(name, outputs, epsilon, parameters):
    module = registry.load("norms", name)
    given = {key: torch.as_tensor(parameters[key], dtype=torch.float64) for key in module.LEARNABLE}
    return module.normalise(torch.as_tensor(outputs), given, epsilon)


def expected(name, epsilon):
    scale, shift, centre = (np.array(VECTORS[key]) for key in ("scale", "shift", "centre"))
    standard = (OUTPUTS - OUTPUTS.mean(1, keepdims=True)) / (OUTPUTS.std(1, keepdims=True) + epsilon)

    def by_rms(array):
        return array / (np.sqrt((array**2).mean(1, keepdims=True)) + epsilon) * scale

    centred = (OUTPUTS - OUTPUTS.mean(1, keepdims=True)) * scale + shift
    found = {"none": OUTPUTS, "std": standard, "ln": standard * scale + shift, "centred": centred}
    return (found | {"rms": by_rms(OUTPUTS), "centred_rms": by_rms(OUTPUTS - centre)})[name]


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_each_follows_its_equation(norm_name, epsilon):
    found = normalise(norm_name, OUTPUTS, epsilon, VECTORS)
    np.testing.assert_allclose(found, expected(norm_name, epsilon), rtol=0, atol=1e-13)


@pytest.mark.parametrize("output_projection", [True, False])
def test_ln_is_std_with_gamma_in_the_next_matrix_and_beta_in_the_next_bias(task_name, output_projection):
    """Layer normalisation has no more capacity here than standardisation (Section 3.2)."""
    ln = make_trained(task_name, "ln", SHARP[task_name], output_projection=output_projection)
    weights = {name: array.astype(np.float64) for name, array in ln.weights.items()}
    gamma, beta = weights.pop("norm.scale"), weights.pop("norm.shift")
    layers = [name for name in ("attention.output", "head.0.weight") if name in weights]
    for name in layers:
        beta = np.einsum("soi,si->so", weights[name], beta)
    weights["head.0.bias"] += beta
    weights[layers[0]] *= gamma[:, np.newaxis]
    std = Trained(replace(ln.variant, norm_name="std"), weights)
    drawn = sample(ln, 60, 12)
    of_ln, of_std = (plainly(models, drawn)["classes"] for models in (ln, std))
    np.testing.assert_allclose(of_std, of_ln, rtol=0, atol=1e-10)


def test_each_begins_without_an_effect_of_what_is_learned(norm_name):
    learnable = dict(registry.load("norms", norm_name).LEARNABLE)
    assert learnable == {key: INITIAL[key] for key in learnable}


def test_outputs_without_variance_have_a_gradient(norm_name):
    outputs = torch.zeros(2, 4, dtype=torch.float64, requires_grad=True)
    normalise(norm_name, outputs, 1e-5, {key: [value] * 4 for key, value in INITIAL.items()}).sum().backward()
    assert outputs.grad.isfinite().all()
