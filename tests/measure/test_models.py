import pytest
import torch
from rounding import in_double
from torch.testing import assert_close

from vanishing_variance.engine.attention import attend
from vanishing_variance.engine.items import Items
from vanishing_variance.measure.inference.models import sharpened

SEEDS, SEQUENCES, WIDTH = 3, 4, 16


def drawn(items):
    """Return the tensors of items, and a query."""
    generator = torch.Generator().manual_seed(items)
    tensors = {
        "embedding": torch.randn(SEEDS, 5, WIDTH, generator=generator),
        "embedding_index": torch.randint(5, (1, SEQUENCES, items), generator=generator).byte(),
        "base": torch.randn(SEEDS, 1, WIDTH, generator=generator),
        "scale": torch.rand(1, SEQUENCES, items, generator=generator) * 4,
    }
    return tensors, torch.randn(SEEDS, SEQUENCES, WIDTH, generator=generator)


@pytest.mark.parametrize(("items", "beta"), [(1, 4), (33, 1.5), (200, 4)])
def test_the_sharpened_context_is_that_of_the_logits_times_beta(items, beta):
    """Against softmax(beta logits) h in double precision, of the same logits."""
    tensors, query = drawn(items)
    logits, plain = attend(Items(**tensors), query)
    found = sharpened(Items(**tensors), logits, torch.full(logits.shape[:2], float(beta)), plain)
    hidden = Items(**in_double(tensors)).hidden()
    weights = torch.softmax(beta * logits.double(), -1)
    expected = (weights.unsqueeze(-2) @ hidden).squeeze(-2)
    assert_close(found.double(), expected, rtol=0, atol=1e-4 * hidden.abs().max().item())


def test_what_is_not_sharpened_stays_as_it_is_whatever_the_rest_of_the_batch():
    tensors, query = drawn(200)
    logits, plain = attend(Items(**tensors), query)
    beta = torch.tensor([[1.0, 2.0, 1.0, 1.5], [1.0, 1.0, 1.0, 1.0], [3.0, 3.0, 3.0, 1.0]])
    found = sharpened(Items(**tensors), logits, beta, plain)
    unchanged = (found == plain).all(-1)
    assert unchanged.tolist() == (beta == 1).tolist()
