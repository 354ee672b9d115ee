"""Options of a normaliser and of an attention map, and a map's numbers of which each head has its own."""

import sys
from dataclasses import replace
from types import ModuleType

import pytest
import torch
from small import make_short, smoke, start
from test_network import assert_as_plain

from vanishing_variance import train
from vanishing_variance.engine import registry
from vanishing_variance.engine.trial import check_choices
from vanishing_variance.engine.variant import Given, Variant
from vanishing_variance.harness.errors import InputError
from vanishing_variance.params import check


class Norm:
    """Divides by the largest of each group of features."""

    LEARNABLE = {"scale": 1.0}

    def __init__(self, *, groups: int = 1):
        self.groups = groups

    def normalise(self, outputs, parameters, epsilon):
        of_groups = outputs.unflatten(-1, (self.groups, -1))
        largest = of_groups.abs().amax(-1, keepdim=True)
        return (of_groups / (largest + epsilon)).flatten(-2) * parameters["scale"]


class Map:
    LEARNABLE = {"scale": 1.0}
    OF_HEADS = {"slope": 0.5}

    def __init__(self, *, power: float = 1.0):
        self.power = power

    def weights(self, logits, parameters):
        return torch.softmax(parameters["slope"] * logits * self.power + parameters["scale"], dim=-1)


class Factor:
    LEARNABLE = {}
    OF_HEADS = {"slope": 0.5}

    def scale(self, items, parameters):
        return items ** parameters["slope"]


@pytest.fixture
def files(monkeypatch):
    """A file of norms/ and one of attentions/, each with a class."""
    load = registry.load
    for folder, kind in (("norms", Norm), ("attentions", Map)):
        module = ModuleType(f"vanishing_variance.{folder}.own")
        setattr(module, kind.__name__, kind)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(
        registry,
        "load",
        lambda folder, name: sys.modules[f"vanishing_variance.{folder}.own"] if name == "own" else load(folder, name),
    )
    monkeypatch.setattr(registry, "softmax_names", lambda: ["softmax"])
    names = registry.names
    monkeypatch.setattr(registry, "names", lambda folder: sorted([*names(folder), "own"]))


def test_the_options_of_params_are_those_of_its_own_choices(files):
    params = {**smoke(), "norm": "own", "norm_options": {"groups": 4}, "attention_options": {"power": 2.0}}
    variant = Variant.of({**params, "attention": "own"}, "argmax", "own", "own")
    assert (variant.norm.groups, variant.attention.power) == (4, 2.0)
    assert Variant.of(params, "argmax", "own").norm.groups == 4
    assert Variant.of(params, "argmax", "ln").norm is registry.load("norms", "ln")
    check(params | {"attention_options": {}})


@pytest.mark.parametrize(
    ("norm", "options", "line"),
    [
        ("own", {"group": 4}, r"norms/own\.py has no option 'group'; its options: groups$"),
        ("own", {"groups": "4"}, r"norms/own\.py: option groups is '4'; must be a valid integer$"),
        ("ln", {"groups": 4}, r"norms/ln\.py has no option 'groups', but for a class Norm$"),
    ],
)
def test_an_option_that_is_not_there_is_one_line(norm, options, line, files):
    params = {**smoke(), "norm": norm, "norm_options": options}
    for refuse in (lambda: check(params), lambda: Variant.of(params, "argmax", norm).norm):
        with pytest.raises(InputError, match=line):
            refuse()


@pytest.mark.parametrize("attention", [Map(power=2.0), Factor()])
@pytest.mark.parametrize("heads", [1, 2])
def test_each_head_has_its_own_numbers_as_in_the_plain_module(attention, heads):
    plan = make_short("dictionary", "ln", model={"heads": heads})
    plan = replace(plan, variant=replace(plan.variant, attention_name="own", given=Given(attention=attention)))
    check_choices(plan, 4)
    assert start(plan, [4, 5])["map.slope"].shape == (2, heads)
    assert_as_plain(plan)


class Both(Map):
    OF_HEADS = {"scale": 1.0}


@pytest.mark.trains
def test_a_name_of_two_numbers_is_one_line():
    with pytest.raises(InputError, match=r"scale is in LEARNABLE and in OF_HEADS; must be in one$"):
        train(smoke(), "argmax", "ln", [0], attention=Both, steps=1)
