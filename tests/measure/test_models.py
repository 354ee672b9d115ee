import pytest
import torch

from vanishing_variance.engine.attention import attend
from vanishing_variance.engine.items import Items
from vanishing_variance.measure.inference.models import sharpened

SEEDS, SEQUENCES, WIDTH = 3, 4, 16


def drawn(items, double=False):
    """Items and a query, the same in both precisions."""
    generator = torch.Generator().manual_seed(items)
    of = torch.float64 if double else torch.float32
    embedding, base, query = (torch.randn(SEEDS, rows, WIDTH, generator=generator).to(of) for rows in (5, 1, SEQUENCES))
    index = torch.randint(5, (1, SEQUENCES, items), generator=generator).byte()
    scale = torch.rand(1, SEQUENCES, items, generator=generator).to(of) * 4
    return Items(embedding, index, base, scale=scale), query


@pytest.mark.parametrize(("items", "beta"), [(1, 4), (33, 1.5), (200, 4)])
def test_the_sharpened_context_is_that_of_the_logits_times_beta(items, beta):
    """Against softmax(beta logits) h in double precision, of the same logits."""
    some, query = drawn(items)
    logits, plain = attend(some, query)
    hidden = drawn(items, double=True)[0].hidden()
    expected = (torch.softmax(beta * logits.double(), -1).unsqueeze(-2) @ hidden).squeeze(-2)
    found = sharpened(some, logits, torch.full(logits.shape[:2], float(beta)), plain)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-4 * hidden.abs().max().item())


def test_what_is_not_sharpened_stays_as_it_is_whatever_the_rest_of_the_batch():
    items, query = drawn(200)
    logits, plain = attend(items, query)
    beta = torch.tensor([[1.0, 2.0, 1.0, 1.5], [1.0, 1.0, 1.0, 1.0], [3.0, 3.0, 3.0, 1.0]])
    found = sharpened(items, logits, beta, plain)
    assert (found == plain).all(-1).tolist() == (beta == 1).tolist()
