from dataclasses import replace
from itertools import cycle, product

import pytest
import torch
from rounding import assert_single, in_double
from small import make_short, plain_model, start

from vanishing_variance.attentions import length_gain
from vanishing_variance.engine import registry
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.kernels import attend as kernel
from vanishing_variance.engine.linear import Linear, linear
from vanishing_variance.engine.steps import losses

SEEDS = [3, 0]


def drawn(plan):
    """Weights in double precision."""
    return in_double(start(plan, SEEDS))


def sequences(plan):
    """One training batch, in double precision, and its labels."""
    batch, labels = next(batches(plan, SEEDS))
    return in_double(batch), labels


def assert_as_plain(plan):
    """Compare class logits, loss and gradients of each seed with those of the plain module."""
    network, weights = plan.variant.network(), drawn(plan)
    for tensor in weights.values():
        tensor.requires_grad_()
    batch, labels = sequences(plan)
    ours = losses(network, weights, batch, labels).mean(1)
    ours.sum().backward()
    class_logits = network(weights, batch)
    for place in range(len(SEEDS)):
        plain = plain_model(plan, weights, place)
        plain_logits = plain({name: array[place] for name, array in batch.items()})
        loss = torch.nn.functional.cross_entropy(plain_logits, labels[place])
        loss.backward()
        torch.testing.assert_close(class_logits[place], plain_logits, rtol=0, atol=1e-12)
        torch.testing.assert_close(ours[place], loss, rtol=0, atol=1e-12)
        of_ours = plain_model(plan, {name: tensor.grad for name, tensor in weights.items()}, place)
        for (name, parameter), gradient in zip(plain.named_parameters(), of_ours.parameters(), strict=True):
            torch.testing.assert_close(gradient.detach(), parameter.grad, rtol=0, atol=1e-10, msg=name)


# Of both kinds of maps, a softmax of rescaled logits and other weights, every combination; of each other map one.
WAYS = list(product(["mlp", "direct"], [False, True], [1, 4]))
MAPS = ["power", "length_gain"]
OTHERS = [name for name in registry.names("attentions") if name not in MAPS]
CASES = [
    ("none", "softmax", {}),
    ("std", "softmax", {"heads": 2}),
    ("ln", "softmax", {"scaled_logits": False, "output_projection": False, "heads": 2}),
    ("rms", "softmax", {"attention_biases": True}),
    ("centred_rms", "softmax", {"projection": "direct"}),
]
for name, way in (*product(MAPS, WAYS), *zip(OTHERS, cycle(WAYS), strict=False)):
    CASES.append(("ln", name, dict(zip(["projection", "attention_biases", "heads"], way, strict=True))))


@pytest.mark.parametrize(("norm", "attention", "changes"), CASES)
def test_loss_and_gradients_equal_those_of_a_plain_module_for_each_seed(task_name, norm, attention, changes):
    assert_as_plain(make_short(task_name, norm, attention=attention, model=changes))


@pytest.mark.parametrize("heads", [1, 2])
def test_a_map_that_is_not_indifferent_to_a_constant_is_given_the_whole_logits(task_name, heads, monkeypatch):
    """As sigmoid attention is; the logits' constant comes from the bias of the item MLP."""
    monkeypatch.setattr(length_gain, "weights", lambda logits, of: of["exponent"] * torch.sigmoid(logits))
    assert_as_plain(make_short(task_name, attention="length_gain", model={"heads": heads}))


@pytest.mark.parametrize(
    ("attention", "changes", "compiled"),
    [
        ("softmax", {}, True),
        ("softmax", {"heads": 4}, False),
        ("power", {"projection": "direct"}, True),
        ("length_gain", {}, False),
        ("length_gain", {"projection": "direct", "heads": 2}, True),
    ],
)
def test_single_precision_is_double_precision_but_for_rounding(task_name, attention, changes, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(kernel, "library", lambda *_: None)
    plan = make_short(task_name, attention=attention, model=changes)
    exact_batch, labels = sequences(plan)
    batch, weights = next(batches(plan, SEEDS))[0], drawn(plan)
    exact = {name: tensor.clone().requires_grad_() for name, tensor in weights.items()}
    single = {name: tensor.float().requires_grad_() for name, tensor in weights.items()}
    network = plan.variant.network()
    expected, found = losses(network, exact, exact_batch, labels), losses(network, single, batch, labels)
    assert_single(found, expected, operations=100)  # six layers, which add up 16 products each
    expected.mean(1).sum().backward()
    found.mean(1).sum().backward()
    for name, tensor in exact.items():
        # Found are 1e-6 of the largest, and 1e-8 where a sum cancels.
        off = 1e-3 * tensor.grad.abs().max().item() + 1e-6
        torch.testing.assert_close(single[name].grad.double(), tensor.grad, rtol=0, atol=off)


def test_a_linear_layer_changes_neither_its_input_nor_the_gradient_that_it_is_given():
    """Its own intermediate results are overwritten."""
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(2, rows, 3, generator=generator).requires_grad_() for rows in (5, 4))
    before = x.detach().clone()
    result = linear(x, Linear(weight, torch.zeros(2, 4), gelu=True))
    towards = torch.ones_like(result)
    torch.autograd.grad(result, (x, weight), towards)
    assert torch.equal(x, before)
    assert (towards == 1).all()


@pytest.mark.parametrize("norm", ["ln", "rms"])
def test_a_normaliser_that_does_not_see_the_scale_of_o_makes_of_l2_weights_what_it_makes_of_a_softmax(task_name, norm):
    """But for epsilon, and a bias of V, which is not scaled."""
    plan = make_short(task_name, norm, model={"epsilon": 1e-30, "attention_biases": False})
    batch, weights = sequences(plan)[0], drawn(plan)
    class_logits = plan.variant.network()(weights, batch)
    of_l2 = replace(plan.variant, attention_name="l2").network()(weights, batch)
    torch.testing.assert_close(of_l2, class_logits, rtol=0, atol=1e-12)
