"""Which files are choices; and the check of normalisers and attention maps, each fault of which is one line."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small import make_short

from vanishing_variance.engine import registry
from vanishing_variance.engine.check import check_attention, check_choices
from vanishing_variance.engine.config import Attention, Norm
from vanishing_variance.engine.variant import Given
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.sections import validate
from vanishing_variance.studies.parameters import LineParams

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
def test_every_attention_map_passes(attention):
    check_choices(make_short("dictionary", "ln", attention=attention), 0)


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Folders of choices with one each, ours; and beside it what editors and systems leave, or is named otherwise."""
    monkeypatch.setattr(registry, "_PACKAGE", tmp_path)
    for folder in ("norms", "attentions"):
        (tmp_path / folder / "folder.py").mkdir(parents=True)
        (tmp_path / folder / ".#ours.py").symlink_to("user@host.1:2")  # Emacs's lock
        (tmp_path / folder / "gone.py").symlink_to("nowhere")
        for name in ("ours", "my-map", "None", "Own", "1st", "_private", "a b", "größe", "x.y"):
            (tmp_path / folder / f"{name}.py").write_text("\ndef scale(items, parameters): ...\n")
        (tmp_path / folder / "._ours.py").write_bytes(b"\0\5\x16\7\0\2\0\0")  # macOS's resource fork
        (tmp_path / folder / "latin.py").write_bytes("# größe\n".encode("latin-1"))


@pytest.mark.usefixtures("beside")
def test_only_files_by_a_name_that_stages_take_are_choices():
    assert registry.names("norms") == registry.names("attentions") == ["latin", "ours"]
    assert registry.softmax_names() == ["ours"]


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("name", ["my-map", "1st", "._ours", "größe", "folder", "gone"])
def test_what_is_no_choice_says_why_wherever_it_is_asked_for(name):
    def said(folder):
        return rf"ours.* \({folder}/{re.escape(name)}\.py is no file with a name of a-z, 0-9 and _\)$"

    with pytest.raises(InputError, match=said("norms")):
        registry.load("norms", name)
    of_line = LineParams.model_fields["norm"].rebuild_annotation()
    for folder, kind in (("norms", Norm), ("attentions", Attention), ("norms", of_line)):
        with pytest.raises(InputError, match=said(folder)):
            validate(name, "key", kind)


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("name", ["x" * 5000, "\0", [["x"]]])
def test_what_is_not_there_is_only_unknown(name):
    with pytest.raises(InputError, match=r"choose from latin, ours$"):
        registry.load("norms", name)
