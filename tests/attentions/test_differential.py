import pytest
import torch
from scipy import special

from vanishing_variance.attentions import differential


def draw(*shape, scale=1.0):
    return scale * torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def factors(dtype=torch.float64):
    return {"lambda": torch.tensor([0.2, -1.5], dtype=dtype).view(2, 1, 1)}


@pytest.mark.parametrize("items", [1, 5, 300])
def test_weights_follow_the_equation(items):
    logits = draw(2, 2, 3, items, scale=4.0)
    first, second = (special.softmax(logits[:, query].numpy(), axis=-1) for query in (0, 1))
    expected = torch.from_numpy(first - factors()["lambda"].numpy() * second)
    torch.testing.assert_close(differential.weights(logits, factors()), expected, rtol=1e-12, atol=1e-15)


def test_gradients():
    leaves = draw(2, 2, 2, 6).requires_grad_(), factors()["lambda"].requires_grad_()
    assert torch.autograd.gradcheck(lambda logits, of: differential.weights(logits, {"lambda": of}), leaves)


def test_order_does_not_matter():
    logits, order = draw(2, 2, 3, 20), torch.randperm(20, generator=torch.Generator().manual_seed(1))
    found = differential.weights(logits[..., order], factors())
    torch.testing.assert_close(found, differential.weights(logits, factors())[..., order], rtol=0, atol=1e-14)


def test_equal_logits_get_equal_weights():
    found = differential.weights(torch.full((2, 2, 1, 4), 9999.37, dtype=torch.float64), factors())
    torch.testing.assert_close(found, (1 - factors()["lambda"]).expand(2, 1, 4) / 4)


@pytest.mark.parametrize("spread", [0.01, 1e4])
def test_many_items_and_large_logits_in_float32(spread):
    logits = draw(2, 2, 2, 16384, scale=spread).float().requires_grad_()
    found = differential.weights(logits, factors(torch.float32))
    exact = differential.weights(logits.double(), factors())
    # each softmax is off by a few roundings, relative to its weights of at most 1, and to 1.5 of the second
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=30 * torch.finfo(torch.float32).eps)
    found.square().sum().backward()
    assert logits.grad.isfinite().all()


def test_it_begins_as_the_publication_s_first_layer():
    assert dict(differential.LEARNABLE) == {"lambda": 0.2}
