"""The check of normalisers and attention maps: what mixes seeds or sequences, or has another shape, is one line."""

import pytest
from small import make_short

from vanishing_variance.engine import registry
from vanishing_variance.engine.check import check_choices
from vanishing_variance.engine.variant import Given
from vanishing_variance.harness.errors import InputError


class OfAll:
    """A forgotten dimension: the standard deviation of all sequences of all seeds."""

    LEARNABLE = {}

    @staticmethod
    def normalise(outputs, parameters, epsilon):
        return outputs / (outputs.std() + epsilon)


class OverSeeds:
    LEARNABLE = {}

    @staticmethod
    def normalise(outputs, parameters, epsilon):
        return outputs - outputs.mean(0, keepdim=True)


class OverSequences:
    LEARNABLE = {}

    @staticmethod
    def normalise(outputs, parameters, epsilon):
        return outputs - outputs.mean(1, keepdim=True)


class Summed:
    LEARNABLE = {}

    @staticmethod
    def normalise(outputs, parameters, epsilon):
        return outputs.sum(1, keepdim=True)


class ShareOfAll:
    LEARNABLE = {}

    @staticmethod
    def weights(logits, parameters):
        positive = logits.exp()
        return positive / positive.sum()


def plan_of(norm=None, attention=None):
    plan = make_short("argmax", "ln")
    given = Given(None, norm, attention)
    variant = type(plan.variant)(**vars(plan.variant) | {"norm_name": "own", "attention_name": "own", "given": given})
    return type(plan)(**vars(plan) | {"variant": variant})


@pytest.mark.parametrize("norm", [OfAll, OverSeeds, OverSequences])
def test_a_normaliser_that_mixes_is_one_line(norm):
    with pytest.raises(InputError, match=r"^norm own, attention own: an answer depends on other sequences or seeds "):
        check_choices(plan_of(norm, registry.load("attentions", "softmax")), 0)


def test_an_attention_map_that_mixes_is_one_line():
    with pytest.raises(InputError, match=r"^norm own, attention own: an answer depends on other sequences or seeds "):
        check_choices(plan_of(registry.load("norms", "none"), ShareOfAll), 0)


def test_another_shape_is_one_line():
    with pytest.raises(InputError, match=r"^norm own, attention own: (logits are |a batch fails: TypeCheckError)"):
        check_choices(plan_of(Summed, registry.load("attentions", "softmax")), 0)


@pytest.mark.parametrize("attention", registry.names("attentions"))
@pytest.mark.parametrize("task", ["argmax", "dictionary"])
def test_every_attention_map_passes(task, attention):
    check_choices(make_short(task, "ln", attention=attention), 0)
