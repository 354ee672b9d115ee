"""The trial of a model before its training: a line for each fault of one's own code, and none for what is right."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from plain_plans import Bag, make_plain
from small import make_short
from things import Remembers
from torch import nn

from vanishing_variance.engine import registry
from vanishing_variance.engine.trial import check_attention, check_choices
from vanishing_variance.engine.variant import Given
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.parallel import job
from vanishing_variance.plain.plan import check_options
from vanishing_variance.plain.trial import check_network

MIXES = "depends on other sequences or seeds, or on chance; compute along dim=-1"
ANOTHER = " is different when seed and state are the same, so another model would be tested; "


def choice(learnable=None, **functions):
    return SimpleNamespace(LEARNABLE=learnable or {}, **functions)


def tried(norm=None, attention=None, **settings):
    """Try the fast network with a normaliser or a map of one's own."""
    plan = make_short("argmax", "ln", **settings)
    names = {"norm_name": "own"} if norm else {"attention_name": "own"}
    check_choices(replace(plan, variant=replace(plan.variant, given=Given(None, norm, attention), **names)), 0)


# Normalisers


def in_place(outputs, *_):
    spread = outputs.var(-1, keepdim=True).sqrt_().add_(1.0)
    return outputs / spread


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
        (lambda outputs, *_: outputs.sum(1, keepdim=True), "returns float32 (2, 1, 16); must be float32 (2, 8, 16), "),
        (lambda outputs, *_: outputs.double(), "returns float64 (2, 8, 16); must be float32 (2, 8, 16), as "),
        (lambda outputs, *_: outputs.numpy(), "returns ndarray; must be float32 (2, 8, 16), as "),
        (lambda outputs, parameters, _: outputs * parameters["gain"], "fails: KeyError: 'gain'"),
    ],
)
def test_a_normaliser_of_other_than_each_sequence_is_one_line(normalise, said):
    with pytest.raises(InputError) as raised:
        tried(choice({"scale": 1.0}, normalise=normalise))
    assert str(raised.value).startswith(f"norm own: normalise {said}")


# Attention maps


class First:
    """That keeps the length of the first sequences it sees."""

    LEARNABLE = {}
    items = None

    def scale(self, items, parameters):
        self.items = self.items or items
        return self.items**0.5


@pytest.mark.parametrize(
    ("attention", "said"),
    [
        ({"weights": lambda logits, _: logits.exp() / logits.exp().sum()}, f"weights {MIXES}"),
        ({"weights": lambda logits, _: logits.softmax(1)}, f"weights {MIXES}"),
        ({"weights": lambda logits, _: logits[:1].softmax(-1).expand_as(logits)}, f"weights {MIXES}"),
        ({"weights": lambda logits, _: logits.sigmoid() * (1 - logits.sigmoid()).cumprod(1)}, f"weights {MIXES}"),
        ({"scale": lambda items, parameters: parameters["gain"].mean()}, f"scale {MIXES}"),
        ({"weights": lambda logits, _: logits.sum(-1)}, "weights returns float32 (2, 8); must be float32 (2, 8, 11), "),
        ({"scale": lambda items, _: torch.ones(2, 6, 1)}, "scale fails: RuntimeError: The size of tensor a (8) must "),
        ({"scale": lambda items, _: items / 0}, "scale fails: ZeroDivisionError: "),
    ],
)
def test_an_attention_map_of_other_than_each_sequence_is_one_line(attention, said):
    with pytest.raises(InputError) as raised:
        tried(attention=choice({"gain": 1.0}, **attention))
    assert str(raised.value).startswith(f"attention own: {said}")


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"norm": Remembers()},
            f"norm own, attention softmax: what norm keeps{ANOTHER}keep nothing ",
        ),
        ({"attention": First()}, f"norm ln, attention own: what attention returns{ANOTHER}keep nothing "),
        ({"norm": choice(normalise=in_place)}, "norm own, attention softmax: a training step fails: RuntimeError: "),
        (
            {"attention": choice(weights=lambda logits, _: (logits + torch.ones(16)[: logits.shape[-1]]).softmax(-1))},
            "norm ln, attention own fails: RuntimeError: The size of tensor a (18) must match the size of tensor b ",
        ),
    ],
)
def test_what_a_step_and_answers_show_is_one_line(given, line):
    with pytest.raises(InputError) as raised:
        tried(**given)
    assert str(raised.value).startswith(line)


@pytest.mark.parametrize("learnable", [["scale"], {"scale": torch.ones(64)}, {"scale": "one"}])
@pytest.mark.parametrize("given", [{"norm": "normalise"}, {"attention": "scale"}])
def test_what_is_learned_is_numbers_by_name(given, learnable):
    with pytest.raises(InputError, match=r"LEARNABLE is .*; must be numbers by name, such as \{"):
        tried(**{kind: choice(learnable, **{function: print}) for kind, function in given.items()})


def test_an_attention_map_has_one_function():
    with pytest.raises(InputError, match=r"an attention map has scale or weights, not both$"):
        tried(attention=choice(scale=print, weights=print))


@pytest.mark.parametrize(
    "factor", [2, np.float32(2), torch.tensor(2.0), torch.full((1, 1, 1), 2.0), torch.full((2, 1, 1), 2.0)]
)
def test_a_factor_is_a_number_or_one_a_seed(factor):
    def scale(items, parameters):
        of_seeds = len(parameters["gain"])
        return factor[:of_seeds] if getattr(factor, "shape", ()) == (2, 1, 1) else factor

    check_attention("own", choice({"gain": 1.0}, scale=scale))


def test_a_map_may_know_the_heads():
    slopes = torch.tensor([1.0, 0.5])

    def weights(logits, parameters):
        return (logits.unflatten(1, (-1, 2)) * slopes.view(2, 1)).flatten(1, 2).softmax(-1)

    tried(attention=choice(weights=weights), model={"heads": 2})


@pytest.mark.parametrize("attention", registry.names("attentions"))
def test_every_attention_map_passes(attention):
    check_choices(make_short("dictionary", "ln", attention=attention), 0)


# Networks


class Own(Bag):
    """A bag with a learned `more`, beside which `forward` may keep what it has seen."""

    persistent, start, steps = True, staticmethod(torch.ones), 0

    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.register_buffer("mean", torch.zeros(sizes.classes), persistent=self.persistent)
        self.more = nn.Parameter(self.start(sizes.classes))

    def forward(self, items, query):
        logits = super().forward(items, query) * self.more
        return self.changed(logits) if self.training else self.tested(logits)

    def changed(self, logits):
        return logits

    def tested(self, logits):
        return logits - self.mean


def own(**changes):
    """Return a network with some methods in place of those of a sound one."""
    return type("Own", (Own,), changes)


def always(change):
    """Return what changes the logits, in a training and in a test."""
    return {"changed": change, "tested": change}


def bound(self, logits):
    self.mean = 0.9 * self.mean + 0.1 * logits.detach().mean(0)
    return logits


def moved(self, logits):
    self.mean.copy_(0.9 * self.mean + 0.1 * logits.detach().mean(0))
    return logits


def counted(self, logits):
    """Of which no step and answer tells until there are a thousand."""
    self.steps += 1
    return logits if self.steps < 1000 else 2 * logits


def fails(self, *_):
    raise RuntimeError("two\nlines")


NOISY = own(**always(lambda self, logits: logits + torch.randn_like(logits)))


class WithoutParameters(nn.Module):
    def __init__(self, sizes, norm):
        super().__init__()


class Unasked(Own):
    """A network of which one attention map of two decides by its factor alone, whatever a rule of a test says."""

    def __init__(self, sizes, norm, attention):
        super().__init__(sizes, norm)
        self.maps = nn.ModuleList([attention(1), attention(1)])

    def forward(self, items, query):
        logits = items[..., 0].unsqueeze(1)
        weights = self.maps[0](logits) + torch.softmax(self.maps[1].rescaled(logits, items=logits.shape[-1]), dim=-1)
        return super().forward(weights.mT * items, query)


@pytest.mark.parametrize(("task", "network"), [("argmax", "paper"), ("dictionary", "transformer"), ("argmax", NOISY)])
def test_what_a_state_holds_passes_and_answers_that_are_drawn(task, network):
    check_network(make_plain(task, network), 0)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (own(changed=bound), ": forward binds network.mean anew, so another model would be tested; change it in place"),
        (
            own(changed=moved, persistent=False),
            f": network.mean{ANOTHER}",
        ),
        (own(changed=counted), f": network.steps{ANOTHER}"),
        (own(tested=moved), ": network.mean changes in a test, so another model would be tested; ask self.training "),
        (
            own(start=lambda self, classes: torch.ones(1).expand(classes)),
            ": network.more is expanded; must have memory of its own, as by clone()",
        ),
        (own(get_extra_state=lambda self: {"steps": 0}), ": network._extra_state is {'steps': 0}; must be a tensor"),
        (
            own(**always(lambda self, logits: logits - logits.mean(dim=0))),  # as by a forgotten dimension
            ": an answer depends on other sequences of a batch; keep them apart",
        ),
        (own(changed=lambda self, logits: logits[:, :3]), " returns (8, 3); must be class logits (8, 10), (batch, "),
        (own(changed=fails), " fails: RuntimeError: two lines"),
        (own(inside=fails), ": inside fails: RuntimeError: two lines"),
        (WithoutParameters, " has no parameters that could be trained"),
        (Unasked, ": attention has a `rule`, as in a test, and is not asked for `weights`; call it with logits"),
    ],
)
def test_what_cannot_be_trained_or_would_be_lost_is_one_line(network, message):
    with pytest.raises(InputError) as raised:
        check_network(make_plain("argmax", network), 0)
    assert str(raised.value).startswith(f"network {network.__name__}{message}")


class Listed(Bag):
    """A bag with a layer in a list of Python's, which torch does not see."""

    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.more = [nn.Linear(8, 8)]

    def forward(self, items, query):
        pooled = self.more[0](self.item(items).mean(dim=1))
        return self.head(torch.cat((self.norm(pooled), query), dim=1))


class Product(Listed):
    """With what was computed of a parameter in its place."""

    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        shift = nn.Parameter(torch.ones(8)) * 0.1
        self.more = [lambda pooled: pooled + shift]


@pytest.mark.parametrize("network", [Listed, Product])
def test_numbers_that_would_not_be_trained_are_one_line(network):
    said = r" and is no parameter, so it is not trained; use nn.Parameter, nn.ModuleList or nn.ModuleDict$"
    with pytest.raises(InputError, match=rf"^network {network.__name__}: a tensor \(8,.*\) asks for gradients{said}"):
        check_network(make_plain("argmax", network), 0)


class Deaf(Bag):
    """A bag without what it is given: no norm and no map, a layer that no step uses, and dropout in tests."""

    def __init__(self, sizes, norm, attention):
        super().__init__(sizes, norm)
        self.unused = nn.Linear(2, 2, bias=False)

    def forward(self, items, query):
        pooled = nn.functional.dropout(self.item(items).mean(dim=1))
        return self.head(torch.cat((pooled, query), dim=1))


def test_what_a_network_does_not_use_is_said(capfd):
    plan = make_plain("argmax", Deaf)
    check_network(replace(plan, variant=replace(plan.variant, attention_name="ssmax")), 0)
    left, norm, attention, drawn = capfd.readouterr().err.splitlines()
    assert left.endswith("in a trial: they may stay as they start")
    assert "no gradient reached network.norm.scale, network.norm.shift, network.unused.weight" in left
    assert norm == "warning: network Deaf does not call its norm, so ln changes nothing"
    assert attention == "warning: network Deaf makes no attention map, so ssmax changes nothing"
    assert drawn.endswith("draws random numbers in a test, too; F.dropout needs training=self.training")


@pytest.mark.parametrize("network", ["paper", "transformer", Bag])
def test_nothing_is_said_of_a_network_that_uses_all(network, capfd):
    check_network(make_plain("dictionary", network), 0)
    assert capfd.readouterr().err == ""


@dataclass
class Size:
    width: int


class Sized(Bag):
    def __init__(self, sizes, norm, *, size: Size):
        super().__init__(sizes, norm, width=size.width)


def test_an_option_may_be_of_a_dataclass():
    assert check_options(Sized, {"size": Size(3)}) == {"size": Size(3)}
    with pytest.raises(InputError, match=r"^network Sized: option size is 3; must be an instance of Size$"):
        check_options(Sized, {"size": 3})


def test_what_cannot_be_sent_to_another_process_is_one_line():
    with pytest.raises(InputError, match=r"^sending what was given to another process fails: TypeError: "):
        job(print, make_plain("argmax", Bag, options={"width": (number for number in range(2))}))
