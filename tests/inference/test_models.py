import math

import pytest
import torch
from rounding import rounding

from vanishing_variance.inference import models
from vanishing_variance.inference.models import sharpened
from vanishing_variance.model.attention import attend
from vanishing_variance.model.items import Items

SEEDS, SEQUENCES, WIDTH = 3, 4, 16


def drawn(items, double=False):
    """Items and a query, the same in both precisions."""
    generator = torch.Generator().manual_seed(items)
    of = torch.float64 if double else torch.float32
    embedding, base, query = (torch.randn(SEEDS, rows, WIDTH, generator=generator).to(of) for rows in (5, 1, SEQUENCES))
    index = torch.randint(5, (1, SEQUENCES, items), generator=generator).byte()
    scale = torch.rand(1, SEQUENCES, items, generator=generator).to(of) * 4
    return Items(embedding, index, base, scale=scale), query


@pytest.mark.parametrize("beta", [1.5, 4])
@pytest.mark.parametrize("items", [1, 33, 200])
def test_the_sharpened_context_is_that_of_the_logits_times_beta(items, beta):
    """Against softmax(beta logits) h in double precision, of the same logits."""
    some, query = drawn(items)
    logits, plain = attend(some, query)
    hidden = drawn(items, double=True)[0].hidden()
    expected = (torch.softmax(beta * logits.double(), -1).unsqueeze(-2) @ hidden).squeeze(-2)
    found = sharpened(some, logits, torch.full(logits.shape[:2], float(beta)), plain)
    # the product with beta is rounded, and the weight is off by as much, relatively; h is some ten operations, and then
    # there are two sums over the items, of the weights and of the context
    off = rounding(1, beta * logits.abs().max().item()) + rounding(10 + 2 * items, 1)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=off * hidden.abs().max().item())


def test_what_is_not_sharpened_stays_as_it_is_whatever_the_rest_of_the_batch():
    items, query = drawn(200)
    logits, plain = attend(items, query)
    beta = torch.tensor([[1.0, 2.0, 1.0, 1.5], [1.0, 1.0, 1.0, 1.0], [3.0, 3.0, 3.0, 1.0]])
    found = sharpened(items, logits, beta, plain)
    assert (found == plain).all(-1).tolist() == (beta == 1).tolist()
    alone = sharpened(items, logits, beta.where(beta == 3.0, torch.ones(())), plain)
    assert torch.equal(found[beta == 3.0], alone[beta == 3.0])


def test_weights_that_no_sum_notices_are_left_out(monkeypatch):
    items, query = drawn(200)
    given = []
    monkeypatch.setattr(models, "weighted_sum", lambda _, weights: given.append(weights) or query)
    logits = torch.zeros(SEEDS, SEQUENCES, 200)
    least = 100 * torch.finfo(torch.float32).eps / 400  # beside 100 items of the weight 1
    logits[..., 100:150], logits[..., 150:] = math.log(least * 1.01) / 2, math.log(least * 0.99) / 2
    sharpened(items, logits, torch.full((SEEDS, SEQUENCES), 2.0), query)
    assert [(part > 0).float().mean().item() for part in given[0].split([100, 50, 50], dim=-1)] == [1, 1, 0]
