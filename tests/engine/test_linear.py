import torch

from vanishing_variance.engine.linear import Linear, linear

SEEDS, ROWS = 2, 5


def tensors():
    """Rows, and the weights and biases of four layers, of widths 3, 4, 6, 4, 2."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(SEEDS, *shape, generator=generator, dtype=torch.float64).requires_grad_()

    return normal(ROWS, 3), normal(4, 3), normal(4), normal(6, 4), normal(6, 4), normal(4), normal(2, 4), normal(2)


def chain(x, a, a_bias, b, c, c_bias, d, d_bias):
    layers = Linear(a, a_bias, gelu=True), Linear(b), Linear(c, c_bias, gelu=True, transposed=True), Linear(d, d_bias)
    return linear(x, *layers)


def plain(x, a, a_bias, b, c, c_bias, d, d_bias):
    gelu = torch.nn.functional.gelu
    x = gelu(x @ a.mT + a_bias.unsqueeze(1)) @ b.mT
    return gelu(x @ c + c_bias.unsqueeze(1)) @ d.mT + d_bias.unsqueeze(1)


def with_gradients(function, arguments):
    result = function(*arguments)
    towards = torch.randn(result.shape, generator=torch.Generator().manual_seed(1), dtype=result.dtype)
    return result.detach(), *torch.autograd.grad(result, arguments, towards)


def test_it_is_the_layers_one_after_another_and_its_gradient_is_theirs():
    found, expected = with_gradients(chain, tensors()), with_gradients(plain, tensors())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_neither_its_input_nor_the_gradient_that_it_is_given_is_changed():
    """Its own intermediate results are overwritten."""
    x, a, a_bias, *_ = tensors()
    before = x.detach().clone()
    result = linear(x, Linear(a, a_bias, gelu=True))
    towards = torch.ones_like(result)
    torch.autograd.grad(result, (x, a), towards)
    assert torch.equal(x, before)
    assert (towards == 1).all()
