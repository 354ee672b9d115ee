"""The check of normalisers and attention maps: what mixes seeds or sequences, or has another shape, is one line."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small import make_short

from vanishing_variance.engine import registry
from vanishing_variance.engine.check import check_attention, check_choices
from vanishing_variance.engine.variant import Given
from vanishing_variance.harness.errors import InputError

NONE, SOFTMAX = registry.load("norms", "none").normalise, registry.load("attentions", "softmax")
MIXES = "depends on other sequences or seeds, or on chance; compute along dim=-1"
WIDE = r"float32 \(2, 6, \d+\)"


def own(learnable=None, **functions):
    return SimpleNamespace(LEARNABLE=learnable or {}, **functions)


def check(norm, attention, norm_name="own"):
    plan = make_short("argmax")
    given = Given(None, norm, attention)
    variant = replace(plan.variant, norm_name=norm_name, attention_name="own", given=given)
    check_choices(replace(plan, variant=variant), 0)


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize(
    ("normalise", "said"),
    [
        (lambda outputs, *_: outputs / (outputs.std() + 1e-5), MIXES),  # a forgotten dimension
        (lambda outputs, *_: outputs - outputs.mean(0, keepdim=True), MIXES),
        (lambda outputs, *_: outputs / outputs.std(0, keepdim=True), MIXES),  # not a number, of one seed alone
        (lambda outputs, *_: outputs - outputs.mean(1, keepdim=True), MIXES),
        (lambda outputs, *_: torch.nn.functional.dropout(outputs), MIXES),
        (lambda outputs, *_: outputs - outputs.cumsum(1) / torch.arange(1, outputs.shape[1] + 1).view(-1, 1), MIXES),
        (lambda outputs, parameters, _: outputs * parameters["scale"][0], MIXES),
        (lambda outputs, parameters, _: outputs * parameters["scale"].mean(), MIXES),
        (lambda outputs, *_: outputs.sum(1, keepdim=True), rf"returns float32 \(2, 1, \d+\); must be {WIDE}, as "),
        (lambda outputs, *_: outputs.mean(-1), rf"returns float32 \(2, 6\); must be {WIDE}, as "),
        (lambda outputs, *_: outputs.double(), rf"returns float64 \(2, 6, \d+\); must be {WIDE}, as "),
        (lambda outputs, *_: outputs.numpy(), rf"returns ndarray; must be {WIDE}, as "),
        (lambda outputs, *_: None, rf"returns NoneType; must be {WIDE}, as "),
        (lambda outputs, parameters, _: outputs * parameters["gain"], "fails: KeyError: 'gain'"),
    ],
)
def test_a_normaliser_of_other_than_each_sequence_is_one_line(normalise, said):
    with pytest.raises(InputError, match=f"^norm own: normalise {said}"):
        check(own({"scale": 1.0}, normalise=normalise), SOFTMAX)


@pytest.mark.parametrize("norm", ["none", "ln"])  # ln hides a common factor from all that comes after it
@pytest.mark.parametrize(
    ("attention", "said"),
    [
        ({"weights": lambda logits, _: logits.exp() / logits.exp().sum()}, f"weights {MIXES}"),
        ({"weights": lambda logits, _: logits.softmax(1)}, f"weights {MIXES}"),
        ({"weights": lambda logits, _: logits[:1].softmax(-1).expand_as(logits)}, f"weights {MIXES}"),
        ({"weights": lambda logits, _: logits.sigmoid() * (1 - logits.sigmoid()).cumprod(1)}, f"weights {MIXES}"),
        ({"scale": lambda items, parameters: parameters["gain"].mean()}, f"scale {MIXES}"),
        ({"weights": lambda logits, _: logits.sum(-1)}, r"weights returns float32 \(2, 6\); must be "),
        ({"scale": lambda items, _: torch.ones(2, 6, 1)}, r"scale returns float32 \(2, 6, 1\); must be a number, or "),
        ({"scale": lambda items, _: items / 0}, "scale fails: ZeroDivisionError: "),
    ],
)
def test_an_attention_map_of_other_than_each_sequence_is_one_line(norm, attention, said):
    with pytest.raises(InputError, match=f"^attention own: {said}"):
        check(registry.load("norms", norm), own({"gain": 1.0}, **attention))


@pytest.mark.parametrize(
    "factor", [2, np.float32(2), torch.tensor(2.0), torch.full((1, 1, 1), 2.0), torch.full((2, 1, 1), 2.0)]
)
def test_a_factor_is_a_number_or_one_a_seed(factor):
    def scale(items, parameters):
        of_seeds = len(parameters["gain"])
        return factor[:of_seeds] if getattr(factor, "shape", ()) == (2, 1, 1) else factor

    check_attention("own", own({"gain": 1.0}, scale=scale))


def test_a_map_may_know_the_heads():
    slopes = torch.tensor([1.0, 0.5])

    def weights(logits, parameters):
        return (logits.unflatten(1, (-1, 2)) * slopes.view(2, 1)).flatten(1, 2).softmax(-1)

    plan = make_short("argmax", model={"heads": 2})
    given = Given(None, registry.load("norms", "ln"), own(weights=weights))
    check_choices(replace(plan, variant=replace(plan.variant, attention_name="own", given=given)), 0)


@pytest.mark.parametrize("learnable", [["scale"], {"scale": torch.ones(64)}, {"scale": "one"}])
def test_what_is_learned_is_numbers_by_name(learnable):
    for norm, attention in ((own(learnable, normalise=NONE), SOFTMAX), (None, own(learnable, scale=SOFTMAX.scale))):
        with pytest.raises(InputError, match=r"LEARNABLE is .*; must be numbers by name, such as \{"):
            check(norm, attention, "ln")


def test_an_attention_map_has_one_function():
    with pytest.raises(InputError, match=r"an attention map has scale or weights, not both$"):
        check(None, own(scale=SOFTMAX.scale, weights=lambda logits, _: logits), "ln")


@pytest.mark.parametrize("attention", registry.names("attentions"))
@pytest.mark.parametrize("task", ["argmax", "dictionary"])
def test_every_attention_map_passes(task, attention):
    check_choices(make_short(task, "ln", attention=attention), 0)
