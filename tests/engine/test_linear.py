import torch

from vanishing_variance.engine.linear import Linear, linear


def test_neither_its_input_nor_the_gradient_that_it_is_given_is_changed():
    """Its own intermediate results are overwritten."""
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(2, rows, 3, generator=generator).requires_grad_() for rows in (5, 4))
    before = x.detach().clone()
    result = linear(x, Linear(weight, torch.zeros(2, 4), gelu=True))
    towards = torch.ones_like(result)
    torch.autograd.grad(result, (x, weight), towards)
    assert torch.equal(x, before)
    assert (towards == 1).all()
