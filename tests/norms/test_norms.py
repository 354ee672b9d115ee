import pytest
import torch

from vanishing_variance.core import registry
from vanishing_variance.core.errors import InputError

OUTPUTS = torch.tensor([[1.0, 2.0, 3.0, 6.0], [-1.0, -1.0, 1.0, 1.0]], dtype=torch.float64)
SCALE = torch.tensor([1.0, 2.0, 0.5, -1.0], dtype=torch.float64)
SHIFT = torch.tensor([0.0, 1.0, -1.0, 3.0], dtype=torch.float64)


def normalise(name, outputs, epsilon, **parameters):
    module = registry.load_norm(name)
    assert set(parameters) == set(module.LEARNABLE)
    return module.normalise(outputs, parameters, epsilon)


def test_none_changes_nothing():
    assert normalise("none", OUTPUTS, 0.1) is OUTPUTS


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_std_divides_by_the_biased_sigma_plus_epsilon(epsilon):
    sigma = torch.tensor([3.5**0.5, 1.0], dtype=torch.float64).unsqueeze(1)
    expected = (OUTPUTS - torch.tensor([[3.0], [0.0]])) / (sigma + epsilon)
    torch.testing.assert_close(normalise("std", OUTPUTS, epsilon), expected, rtol=0, atol=1e-14)


def test_ln_is_torchs_layer_norm_where_epsilon_does_not_matter():
    expected = torch.nn.functional.layer_norm(OUTPUTS, (4,), SCALE, SHIFT, eps=0.0)
    torch.testing.assert_close(normalise("ln", OUTPUTS, 0.0, scale=SCALE, shift=SHIFT), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("sigma", "factor"), [(0.1, 0.9996), (0.01, 0.954), (0.001, 0.305)])
def test_how_far_torchs_layer_norm_is_from_the_papers(sigma, factor):
    """The numbers in the docstring of norms/ln.py."""
    outputs = OUTPUTS[1:] * sigma
    torchs = torch.nn.functional.layer_norm(outputs, (4,), eps=1e-5)
    ours = normalise("ln", outputs, 1e-5, scale=torch.ones(4), shift=torch.zeros(4))
    torch.testing.assert_close(torchs / ours, torch.full_like(ours, factor), rtol=0, atol=5e-4)


def test_rms_does_not_centre():
    expected = OUTPUTS / (torch.tensor([[12.5**0.5], [1.0]], dtype=torch.float64) + 0.5) * SCALE
    torch.testing.assert_close(normalise("rms", OUTPUTS, 0.5, scale=SCALE), expected, rtol=0, atol=1e-14)


def test_centred_rms_takes_a_learned_centre_off_that_is_the_same_for_all():
    centred = OUTPUTS - SHIFT
    rms = centred.square().mean(-1, keepdim=True).sqrt()
    found = normalise("centred_rms", OUTPUTS, 0.5, centre=SHIFT, scale=SCALE)
    torch.testing.assert_close(found, centred / (rms + 0.5) * SCALE, rtol=0, atol=1e-14)
    moved = normalise("centred_rms", OUTPUTS + 7, 0.5, centre=SHIFT + 7, scale=SCALE)
    torch.testing.assert_close(moved, found, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["std", "ln", "rms", "centred_rms"])
def test_gradients(name):
    module = registry.load_norm(name)
    outputs = torch.randn(3, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    parameters = [torch.randn(5, dtype=torch.float64, requires_grad=True) for _ in module.LEARNABLE]

    def call(outputs, *values):
        return module.normalise(outputs, dict(zip(module.LEARNABLE, values, strict=True)), 1e-5)

    assert torch.autograd.gradcheck(call, (outputs, *parameters))


@pytest.mark.parametrize("name", ["std", "ln", "rms", "centred_rms"])
def test_outputs_without_variance_have_a_gradient(name):
    module = registry.load_norm(name)
    outputs = torch.zeros(2, 3, requires_grad=True)
    parameters = {name: torch.full((3,), value) for name, value in module.LEARNABLE.items()}
    module.normalise(outputs, parameters, 1e-5).sum().backward()
    assert outputs.grad.isfinite().all()


def test_an_unknown_normaliser_is_refused_with_the_choices():
    assert {"ln", "none", "rms", "std"} <= set(registry.norm_names())
    for name in ("batch", "base", "__init__", "../tasks/argmax", ""):
        with pytest.raises(InputError, match=f"is unknown; choose from {', '.join(registry.norm_names())}"):
            registry.load_norm(name)
