import math

import pytest
import torch
from rounding import rounding

from vanishing_variance.inference import models
from vanishing_variance.inference.models import context_of
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


@pytest.mark.parametrize("beta", [1, 100])
@pytest.mark.parametrize("items", [1, 33, 200])
def test_the_context_of_known_logits_is_that_of_the_query_which_has_them(items, beta):
    logits, _ = attend(*drawn(items))
    exact, query = drawn(items, double=True)
    exact_logits, expected = attend(exact, query * beta)
    # a weight is off by as much, relatively, as its logit absolutely
    off = rounding(WIDTH + 10, max(1, exact_logits.abs().max().item())) * max(1, expected.abs().max().item())
    found = context_of(drawn(items)[0], logits * beta)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=off)


def test_weights_that_their_sum_does_not_notice_are_left_out(monkeypatch):
    items, query = drawn(200)
    given = []
    monkeypatch.setattr(models, "weighted_sum", lambda _, weights: given.append(weights) or query)
    logits = torch.zeros(SEEDS, SEQUENCES, 200)
    least = 100 * torch.finfo(torch.float32).eps / 400  # beside 100 items of the weight 1
    logits[..., 100:150], logits[..., 150:] = math.log(least * 1.01), math.log(least * 0.99)
    context_of(items, logits)
    assert [(part > 0).float().mean().item() for part in given[0].split([100, 50, 50], dim=-1)] == [1, 1, 0]
