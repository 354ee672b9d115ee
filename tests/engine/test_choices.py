"""The check of normalisers and attention maps: what mixes seeds or sequences, or has another shape, is one line."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from small import make_short

from vanishing_variance.engine import registry
from vanishing_variance.engine.check import check_choices
from vanishing_variance.engine.variant import Given
from vanishing_variance.harness.errors import InputError

NONE, SOFTMAX = registry.load("norms", "none").normalise, registry.load("attentions", "softmax")
MIXES = "an answer depends on other sequences or seeds "


def own(**functions):
    return SimpleNamespace(LEARNABLE={}, **functions)


@pytest.mark.parametrize(
    ("norm", "attention", "said"),
    [
        (own(normalise=lambda outputs, *_: outputs / (outputs.std() + 1e-5)), SOFTMAX, MIXES),  # a forgotten dimension
        (own(normalise=lambda outputs, *_: outputs - outputs.mean(0, keepdim=True)), SOFTMAX, MIXES),
        (own(normalise=lambda outputs, *_: outputs - outputs.mean(1, keepdim=True)), SOFTMAX, MIXES),
        (own(normalise=NONE), own(weights=lambda logits, _: logits.exp() / logits.exp().sum()), MIXES),
        (
            own(normalise=lambda outputs, *_: outputs.sum(1, keepdim=True)),
            SOFTMAX,
            "(logits are |a batch fails: TypeCheckError)",
        ),
    ],
)
def test_what_mixes_or_has_another_shape_is_one_line(norm, attention, said):
    plan = make_short("argmax")
    given = Given(None, norm, attention)
    variant = replace(plan.variant, norm_name="own", attention_name="own", given=given)
    with pytest.raises(InputError, match=f"^norm own, attention own: {said}"):
        check_choices(replace(plan, variant=variant), 0)


@pytest.mark.parametrize("attention", registry.names("attentions"))
@pytest.mark.parametrize("task", ["argmax", "dictionary"])
def test_every_attention_map_passes(task, attention):
    check_choices(make_short(task, "ln", attention=attention), 0)
