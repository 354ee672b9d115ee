import pytest
import torch

from vanishing_variance.model.kernels import attend as kernel
from vanishing_variance.model.linear import Linear, linear

SEEDS, ROWS = 2, 5


def tensors(dtype=torch.float64):
    """Rows, and the weights and biases of four layers, of widths 3, 4, 6, 4, 2."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(SEEDS, *shape, generator=generator).to(dtype).requires_grad_()

    return normal(ROWS, 3), normal(4, 3), normal(4), normal(6, 4), normal(6, 4), normal(4), normal(2, 4), normal(2)


def chain(x, a, a_bias, b, c, c_bias, d, d_bias, form="exact"):
    layers = Linear(a, a_bias, form), Linear(b), Linear(c, c_bias, form, transposed=True), Linear(d, d_bias)
    return linear(x, *layers)


def plain(x, a, a_bias, b, c, c_bias, d, d_bias, form="exact"):
    gelu = torch.nn.GELU("none" if form == "exact" else form)
    x = gelu(x @ a.mT + a_bias.unsqueeze(1)) @ b.mT
    return gelu(x @ c + c_bias.unsqueeze(1)) @ d.mT + d_bias.unsqueeze(1)


@pytest.mark.parametrize("form", ["exact", "tanh"])
def test_it_is_the_layers_one_after_another_and_its_gradient_is_theirs(form):
    ours = tensors()
    theirs = [tensor.detach().requires_grad_() for tensor in ours]
    result, expected = chain(*ours, form=form), plain(*theirs, form=form)
    torch.testing.assert_close(result, expected, rtol=0, atol=1e-12)
    towards = torch.randn(result.shape, generator=torch.Generator().manual_seed(1), dtype=result.dtype)
    gradients = torch.autograd.grad(result, ours, towards)
    for one, other in zip(gradients, torch.autograd.grad(expected, theirs, towards), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_its_gradient_is_that_of_finite_differences():
    assert torch.autograd.gradcheck(chain, tensors(), fast_mode=False)


@pytest.mark.parametrize("compiled", [True, False])
def test_in_single_precision_compiled_or_not(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(kernel, "library", lambda *_: None)
    single = tensors(torch.float32)
    double = [tensor.detach().double().requires_grad_() for tensor in single]
    result, expected = chain(*single), plain(*double)
    torch.testing.assert_close(result.double(), expected, rtol=1e-5, atol=1e-5)
    gradients = torch.autograd.grad(result.sum(), single)
    for one, other in zip(gradients, torch.autograd.grad(expected.sum(), double), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-4)


def test_only_what_is_asked_for_is_differentiated():
    x, *weights = (tensor.detach() for tensor in tensors())
    weights[0].requires_grad_()
    result = chain(x, *weights)
    result.sum().backward()
    assert weights[0].grad is not None
    assert all(tensor.grad is None for tensor in (x, *weights[1:]))


def test_neither_its_input_nor_the_gradient_that_it_is_given_is_changed():
    """Its own intermediate results are overwritten."""
    x, a, a_bias, *_ = tensors()
    before = x.detach().clone()
    result = linear(x, Linear(a, a_bias, "exact"))
    towards = torch.ones_like(result)
    torch.autograd.grad(result, (x, a), towards)
    assert torch.equal(x, before)
    assert (towards == 1).all()


def test_a_weights_gradient_is_laid_out_as_the_weight():
    """Else autograd would copy it."""
    x, *weights = tensors()
    chain(x, *weights).sum().backward()
    assert all(tensor.grad.stride() == tensor.stride() for tensor in weights)
