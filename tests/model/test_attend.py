from dataclasses import replace

import pytest
import torch
from rounding import rounding

from vanishing_variance.model import attention
from vanishing_variance.model.items import Items
from vanishing_variance.model.kernels import attend as kernel

WIDTH = 16

pytestmark = pytest.mark.skipif(kernel.library(WIDTH) is None, reason="no C compiler")


def drawn(kind, seeds=3, sequences=4, items=9, shared=False):
    """Items of one kind and a folded_query, float32, all that can have a gradient."""
    generator = torch.Generator().manual_seed(items)

    def normal(*shape):
        return torch.randn(*shape, generator=generator).requires_grad_()

    def whole(below):
        return torch.randint(below, (1 if shared else seeds, sequences, items), generator=generator)

    scale = torch.rand(1 if shared else seeds, sequences, items, generator=generator) * 4
    made = {
        "scaled row": lambda: Items(normal(seeds, 5, WIDTH), whole(5).byte(), normal(seeds, 1, WIDTH), scale=scale),
        "rows of a table": lambda: Items(
            normal(seeds, 5, WIDTH), whole(5).byte(), normal(seeds, 7, WIDTH), base_index=whole(7).short()
        ),
    }
    return made[kind](), normal(seeds, sequences, WIDTH)


def tolerance(logits):
    """Return that of the logits: sums of as many products as the width, after some ten operations of a GELU.

    A softmax is off by as much, relatively, as its logits absolutely: what it weighs has this tolerance times its size.
    """
    return rounding(WIDTH + 10, max(1, logits.abs().max().item()))


def in_double(items):
    parts = [None if of is None else of.detach().double() for of in (items.embedding, items.base, items.scale)]
    return Items(
        parts[0].requires_grad_(), items.embedding_index, parts[1].requires_grad_(), items.base_index, parts[2]
    )


KINDS = ["scaled row", "rows of a table"]


@pytest.mark.parametrize("gelu", ["exact", "none"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("items", [1, 33, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_products_and_weighted_sums_and_their_gradients_are_those_of_the_plain_definition(kind, items, shared, gelu):
    ours, folded_query = drawn(kind, items=items, shared=shared)
    ours = replace(ours, gelu=gelu)
    plain, exact = replace(in_double(ours), gelu=gelu), folded_query.detach().double().requires_grad_()
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(*folded_query.shape[:2], items, generator=generator)
    weights[..., ::3] = 0
    weights.requires_grad_()
    exact_weights = weights.detach().double().requires_grad_()
    assert kernel.usable(folded_query, ours)
    for form, arguments, exact_arguments in [
        (attention.products, folded_query, exact),
        (attention.weighted_sum, weights, exact_weights),
    ]:
        result, expected = form(ours, arguments), form(plain, exact_arguments)
        size = max(1, expected.abs().max().item())
        off = rounding(max(WIDTH, items) + 10, size)
        torch.testing.assert_close(result.double(), expected, rtol=0, atol=off)
        towards = torch.randn(result.shape, generator=generator)
        found = torch.autograd.grad(result, (arguments, ours.embedding, ours.base), towards)
        exactly = torch.autograd.grad(expected, (exact_arguments, plain.embedding, plain.base), towards.double())
        for one, other in zip(found, exactly, strict=True):
            off = rounding(max(WIDTH, 4 * items) + 10, max(1, other.abs().max().item()))
            torch.testing.assert_close(one.double(), other, rtol=0, atol=off)


def test_a_shift_is_added_to_the_products_alone():
    items, folded_query = drawn("scaled row")
    shift = torch.arange(12.0).view(3, 4)
    shifted = attention.products(replace(items, shift=shift), folded_query)
    torch.testing.assert_close(shifted, attention.products(items, folded_query) + shift.unsqueeze(-1))
    assert (
        attention.attend(replace(items, shift=shift), folded_query)[1] == attention.attend(items, folded_query)[1]
    ).all()


@pytest.mark.parametrize("gelu", ["exact", "none"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("items", [1, 2, 31, 32, 33, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_logits_average_and_gradients_are_those_of_the_plain_definition(kind, items, shared, gelu):
    ours, folded_query = drawn(kind, items=items, shared=shared)
    ours = replace(ours, gelu=gelu)
    plain, exact = replace(in_double(ours), gelu=gelu), folded_query.detach().double().requires_grad_()
    assert kernel.usable(folded_query, ours)
    assert not kernel.usable(exact, plain)
    logits, context = attention.attend(ours, folded_query)
    plain_logits, plain_average = attention.attend(plain, exact)
    off = tolerance(plain_logits)
    torch.testing.assert_close(logits.double(), plain_logits, rtol=0, atol=off)
    torch.testing.assert_close(context.double(), plain_average, rtol=0, atol=off * plain_average.abs().max().item())
    towards = torch.randn(context.shape, generator=torch.Generator().manual_seed(0))
    gradients = torch.autograd.grad(context, (folded_query, ours.embedding, ours.base), towards)
    expected = torch.autograd.grad(plain_average, (exact, plain.embedding, plain.base), towards.double())
    for one, other in zip(gradients, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=off * max(1, other.abs().max().item()))


def test_one_sequence_of_one_item_with_one_row():
    items, folded_query = drawn("rows of a table", sequences=1, items=1)
    plain, exact = in_double(items), folded_query.detach().double().requires_grad_()
    ours = torch.autograd.grad(attention.attend(items, folded_query)[1].sum(), (items.base, items.embedding))
    expected = torch.autograd.grad(attention.attend(plain, exact)[1].sum(), (plain.base, plain.embedding))
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-6)


def test_it_leaves_the_tanh_form_of_gelu_to_torch():
    items, folded_query = drawn("scaled row")
    folded_query = folded_query.detach() / 30  # small logits: the forms are 4e-4 apart, and the tolerance must be below
    form = replace(items, gelu="tanh")
    assert kernel.usable(folded_query, items)
    assert not kernel.usable(folded_query, form)
    _, context = attention.attend(form, folded_query)
    logits, expected = attention.attend(replace(in_double(form), gelu="tanh"), folded_query.double())
    off = tolerance(logits) * expected.abs().max().item()
    torch.testing.assert_close(context.double(), expected, rtol=0, atol=off)
    assert (attention.attend(items, folded_query)[1] - context).abs().max() > off


def test_gelu_is_the_exact_one_to_single_precision():
    """A sequence of one item contexts to gelu(item)."""
    x = torch.linspace(-30, 30, 40_000).view(1, -1, WIDTH)
    index = torch.zeros(1, x.shape[1], 1, dtype=torch.uint8)
    one = Items(torch.zeros(1, 1, WIDTH), index, x, base_index=torch.arange(x.shape[1]).view(1, -1, 1))
    _, context = attention.attend(one, torch.zeros_like(x))
    expected = torch.nn.functional.gelu(x.double())
    assert (context.double() - expected).abs().sub(3e-7 * expected.abs()).max() < 4e-7


def test_weights_that_span_all_of_single_precision():
    items, folded_query = drawn("scaled row", items=100)
    huge = folded_query.detach() * 1e4
    logits, context = attention.attend(items, huge)
    expected = attention.attend(in_double(items), huge.double())
    assert logits.abs().max() > 1e4
    torch.testing.assert_close(context.double(), expected[1], rtol=0, atol=1e-2)
    assert torch.isfinite(context).all()


@pytest.mark.parametrize("what", ["base", "embedding"])
def test_what_is_not_a_number_stays_one(what):
    items, folded_query = drawn("scaled row")
    getattr(items, what).data[1] = float("nan")
    _, context = attention.attend(items, folded_query)
    assert context.isnan().flatten(1).all(1).tolist() == [False, True, False]


def test_a_million_items_lose_no_precision():
    """Equal items average to themselves, and their logits' peak and sum do not drift."""
    items, folded_query = drawn("scaled row", seeds=1, sequences=1, items=2**20)
    equal = Items(
        items.embedding, torch.zeros_like(items.embedding_index), items.base, scale=torch.ones_like(items.scale)
    )
    _, context = attention.attend(equal, folded_query)
    _, alone = attention.attend(
        Items(items.embedding, equal.embedding_index[..., :1], items.base, scale=equal.scale[..., :1]), folded_query
    )
    torch.testing.assert_close(context, alone, rtol=2e-6, atol=0)


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinite_logits_are_not_numbers_as_torch_has_it(value):
    items, folded_query = drawn("scaled row", items=40)
    ours = attention.attend(items, torch.full_like(folded_query, value))[1]
    exact = in_double(items)
    assert ours.isnan().all()
    assert attention.attend(exact, torch.full_like(folded_query, value).double())[1].isnan().all()


def test_rows_that_no_item_names_are_refused():
    items, _ = drawn("rows of a table")
    with pytest.raises(ValueError, match="7 bases, and no item says which is its own"):
        Items(items.embedding, items.embedding_index, items.base)


def test_gelu_and_its_derivative_are_torchs():
    x = torch.linspace(-12, 12, 3 * 7 * WIDTH).view(3, 7, WIDTH)
    exact = x.double().requires_grad_()
    expected = torch.nn.functional.gelu(exact)
    [slope] = torch.autograd.grad(expected.sum(), exact)
    value, derivative = kernel.gelu(x.clone(), differentiated=True)
    torch.testing.assert_close(value.double(), expected.detach(), rtol=3e-7, atol=4e-7)
    torch.testing.assert_close(derivative.double(), slope, rtol=3e-7, atol=1e-6)
    alone, nothing = kernel.gelu(x.clone(), differentiated=False)
    assert nothing is None
    assert torch.equal(alone, value)


@pytest.mark.parametrize("index", ["embedding_index", "base_index"])
def test_an_index_outside_its_table_is_refused(index):
    items, folded_query = drawn("rows of a table")
    getattr(items, index)[0, 0, 0] = 9
    with pytest.raises(IndexError, match="items numbered 0 to 9, of a table of"):
        attention.attend(items, folded_query)


@pytest.mark.parametrize("size", [1, 4, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_in_parts_without_a_compiler_it_is_the_same(kind, size, monkeypatch):
    items, folded_query = drawn(kind)
    whole = attention.attend(in_double(items), folded_query.detach().double())
    monkeypatch.setattr(kernel, "library", lambda *_: None)
    monkeypatch.setitem(attention.ITEMS_AT_ONCE, "cpu", size * 12)
    assert len(list(items.parts(size))) == -(-9 // size)
    parted = attention.attend(items, folded_query)
    for one, other in zip(parted, whole, strict=True):
        off = tolerance(whole[0]) * max(1, other.abs().max().item())
        torch.testing.assert_close(one.double(), other, rtol=0, atol=off)
    exact = in_double(items)
    parted = attention.attend(exact, folded_query.detach().double())
    for one, other in zip(parted, whole, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)
    gradients = torch.autograd.grad(parted[1].sum(), (exact.embedding, exact.base))
    monkeypatch.undo()
    other = in_double(items)
    expected = torch.autograd.grad(
        attention.attend(other, folded_query.detach().double())[1].sum(), (other.embedding, other.base)
    )
    for one, another in zip(gradients, expected, strict=True):
        torch.testing.assert_close(one, another, rtol=0, atol=1e-12)
