import math
from dataclasses import replace

import pytest
import torch
from rounding import assert_single

from vanishing_variance.engine import attend as attention
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.kernels import attend as kernel

WIDTH, SEEDS, SEQUENCES = 16, 3, 4

pytestmark = pytest.mark.skipif(kernel.library(WIDTH) is None, reason="no C compiler")


def drawn(kind, items=9, shared=False, gelu=True):
    """Items of one kind and a folded query, float32, all that can have a gradient."""
    generator = torch.Generator().manual_seed(items)
    shape = 1 if shared else SEEDS, SEQUENCES, items

    def normal(*shape):
        return torch.randn(*shape, generator=generator).requires_grad_()

    embedding, embedding_index = normal(SEEDS, 5, WIDTH), torch.randint(5, shape, generator=generator).byte()
    if kind == "scaled row":
        scale = 4 * torch.rand(shape, generator=generator)
        made = Items(embedding, embedding_index, normal(SEEDS, 1, WIDTH), scale=scale, gelu=gelu)
    else:
        base_index = torch.randint(7, shape, generator=generator).short()
        made = Items(embedding, embedding_index, normal(SEEDS, 7, WIDTH), base_index=base_index, gelu=gelu)
    return made, normal(SEEDS, SEQUENCES, WIDTH)


def exactly(items):
    """The same items in double precision, which nothing compiled computes."""
    scale = None if items.scale is None else items.scale.double()
    embedding, base = (of.detach().double().requires_grad_() for of in (items.embedding, items.base))
    return replace(items, embedding=embedding, base=base, scale=scale)


# A kind, how many items (the compiled loops take 32 at a time), whether all seeds share them, and whether GELU follows.
CASES = [
    ("scaled row", 1, False, True),
    ("scaled row", 33, True, False),
    ("scaled row", 200, False, True),
    ("rows of a table", 1, True, False),
    ("rows of a table", 32, False, True),
    ("rows of a table", 33, True, True),
    ("rows of a table", 200, False, False),
]
FORMS = {
    "context": lambda items, query: attention.attend(items, query)[1],
    "products": attention.products,
    "weighted sum": attention.weighted_sum,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "items", "shared", "gelu"), CASES)
def test_results_and_gradients_are_those_of_the_plain_definition(form, kind, items, shared, gelu):
    ours, argument = drawn(kind, items, shared, gelu)
    plain, operations, largest = exactly(ours), WIDTH + SEQUENCES * items, 1.0
    if form == "context":
        # Its weights sum to 1, and are off by as much, relatively, as the logits are absolutely.
        operations, largest = WIDTH + 10, attention.products(plain, argument.double()).abs().max().item()
    generator = torch.Generator().manual_seed(1)
    if form == "weighted sum":
        argument = torch.randn(SEEDS, SEQUENCES, items, generator=generator)
        argument[..., ::3] = 0
        argument.requires_grad_()
    exact = argument.detach().double().requires_grad_()
    assert kernel.usable(argument, ours)
    assert not kernel.usable(exact, plain)
    result, expected = FORMS[form](ours, argument), FORMS[form](plain, exact)
    assert_single(result, expected, operations, largest)
    towards = torch.randn(result.shape, generator=generator)
    gradients = torch.autograd.grad(result, (argument, ours.embedding, ours.base), towards)
    expected_gradients = torch.autograd.grad(expected, (exact, plain.embedding, plain.base), towards.double())
    for one, other in zip(gradients, expected_gradients, strict=True):
        assert_single(one, other, operations, largest * other.abs().max().item())


@pytest.mark.parametrize(("kind", "size"), [("scaled row", 1), ("scaled row", 9), ("rows of a table", 4)])
def test_in_parts_without_a_compiler_it_is_the_same(kind, size, monkeypatch):
    items, query = drawn(kind)
    exact, exact_query = exactly(items), query.detach().double()
    whole = attention.attend(exact, exact_query)
    gradients = torch.autograd.grad(whole[1].sum(), (exact.embedding, exact.base))
    monkeypatch.setattr(kernel, "library", lambda *_: None)
    monkeypatch.setitem(attention.ITEMS_AT_ONCE, "cpu", size * SEEDS * SEQUENCES)
    assert len(list(items.parts(size))) == -(-9 // size)
    parted = attention.attend(exact, exact_query)
    in_parts = torch.autograd.grad(parted[1].sum(), (exact.embedding, exact.base))
    for one, other in zip((*parted, *in_parts), (*whole, *gradients), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_logits_may_be_huge(sign):
    """Item 5 has the logit 160,000 times the sign, all others 0."""
    index = torch.zeros(1, 1, 40, dtype=torch.uint8)
    index[..., 5] = 1
    rows = torch.stack([torch.full((WIDTH,), -20.0), torch.full((WIDTH,), 10.0)]).unsqueeze(0)
    items = Items(rows, index, torch.zeros(1, 1, WIDTH))
    logits, context = attention.attend(items, torch.full((1, 1, WIDTH), sign * 1000.0))
    expected = torch.full((1, 1, WIDTH), 10.0 if sign == 1 else 0.0)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-4)
    assert logits[0, 0, 5].item() == pytest.approx(sign * 160_000, rel=1e-4)


@pytest.mark.parametrize(
    ("what", "value"),
    [("base", math.nan), ("embedding", math.nan), ("query", math.nan), ("query", math.inf), ("query", -math.inf)],
)
def test_what_is_not_a_number_or_infinite_gives_no_number(what, value):
    items, query = drawn("scaled row", items=40)
    (query if what == "query" else getattr(items, what)).data[1] = value
    _, context = attention.attend(items, query)
    assert context.isnan().flatten(1).all(1).tolist() == [False, True, False]


def test_a_million_items_lose_no_precision():
    """Equal items average to themselves."""
    generator = torch.Generator().manual_seed(0)
    row, query = torch.randn(2, 1, 1, WIDTH, generator=generator)
    index = torch.zeros(1, 1, 2**20, dtype=torch.uint8)
    _, context = attention.attend(Items(row, index, torch.zeros(1, 1, WIDTH)), query)
    # Single precision within a block of 32 items, double beyond it: ten times 32 roundings.
    torch.testing.assert_close(context, torch.nn.functional.gelu(row), rtol=2e-5, atol=3e-6)


@pytest.mark.parametrize("index", ["embedding_index", "base_index"])
def test_an_index_outside_its_table_is_refused(index):
    items, query = drawn("rows of a table")
    getattr(items, index)[0, 0, 0] = 9
    with pytest.raises(IndexError, match="items numbered 0 to 9, of a table of"):
        attention.attend(items, query)
