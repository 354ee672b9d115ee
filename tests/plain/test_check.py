"""The check of a network before its training: what it refuses, and what it lets pass."""

from dataclasses import dataclass

import pytest
import torch
from plain_plans import Bag, make_plain
from torch import nn

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.parallel import job
from vanishing_variance.plain.check import check_network
from vanishing_variance.plain.plan import check_options


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


@pytest.mark.parametrize(("task", "network"), [("argmax", "paper"), ("dictionary", "transformer"), ("argmax", NOISY)])
def test_what_a_state_holds_passes_and_answers_that_are_drawn(task, network):
    check_network(make_plain(task, network), 0)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (own(changed=bound), ": forward binds network.mean anew, so another model would be tested; change it in place"),
        (
            own(changed=moved, persistent=False),
            ": network.mean is different when seed and state are the same, so another model would be tested; ",
        ),
        (own(changed=counted), ": network.steps is different when "),
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
        (own(changed=lambda self, logits: logits[:, :3]), " returns (4, 3); must be class logits (4, 10), (batch, "),
        (own(changed=fails), " fails: RuntimeError: two lines"),
        (own(inside=fails), ": inside fails: RuntimeError: two lines"),
        (WithoutParameters, " has no parameters that could be trained"),
    ],
)
def test_what_cannot_be_trained_or_would_be_lost_is_one_line(network, message):
    with pytest.raises(InputError) as raised:
        check_network(make_plain("argmax", network), 0)
    assert str(raised.value).startswith(f"network {network.__name__}{message}")


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
