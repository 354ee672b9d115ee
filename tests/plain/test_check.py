"""The check of a network before its training: what it refuses, and what it lets pass."""

from dataclasses import dataclass

import pytest
import torch
from plain_plans import Bag, make_plain
from torch import nn

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.jobs import job
from vanishing_variance.plain.check import check_network
from vanishing_variance.plain.plan import check_options


class WithMore(Bag):
    """A bag with a learned `more`, beside which `forward` may keep what it has seen."""

    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.register_buffer("mean", torch.zeros(sizes.classes))
        self.more, self.steps = nn.Parameter(torch.ones(sizes.classes)), 0

    def forward(self, items, query):
        logits = super().forward(items, query) * self.more
        return self.changed(logits) if self.training else logits - self.mean

    def changed(self, logits):
        return logits


def of_mean(model, logits):
    return 0.9 * model.mean + 0.1 * logits.detach().mean(0)


class Bound(WithMore):
    def changed(self, logits):
        self.mean = of_mean(self, logits)
        return logits


class NotInState(WithMore):
    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.register_buffer("mean", self.mean, persistent=False)

    def changed(self, logits):
        self.mean.copy_(of_mean(self, logits))
        return logits


class Counts(WithMore):
    """Of which no step and answer tells until there are a thousand."""

    def changed(self, logits):
        self.steps += 1
        return logits if self.steps < 1000 else 2 * logits


class ChangesInTests(WithMore):
    def forward(self, items, query):
        logits = super().forward(items, query)
        self.mean.copy_(of_mean(self, logits))
        return logits


class Expanded(WithMore):
    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.more = nn.Parameter(torch.ones(1).expand(sizes.classes))


class Centred(Bag):
    """Over the sequences of a batch, as by a forgotten dimension."""

    def forward(self, items, query):
        logits = super().forward(items, query)
        return logits - logits.mean(dim=0)


class Noisy(Bag):
    def forward(self, items, query):
        logits = super().forward(items, query)
        return logits + torch.randn_like(logits)


class Extra(WithMore):
    def get_extra_state(self):
        return {"steps": self.steps}


@pytest.mark.parametrize("network", ["paper", "transformer"])
def test_what_a_state_holds_passes(task_name, network):
    check_network(make_plain(task_name, network), 0)


def test_answers_that_are_drawn_pass():
    check_network(make_plain("argmax", Noisy), 0)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (Bound, "forward binds network.mean anew, so another model would be tested; change it in place, as by copy_"),
        (NotInState, "network.mean is different when seed and state are the same, so another model would be tested; "),
        (Counts, "network.steps is different when "),
        (ChangesInTests, "network.mean changes in a test, so another model would be tested; ask self.training first"),
        (Expanded, "network.more is expanded; must have memory of its own, as by clone()"),
        (Extra, "network._extra_state is {'steps': 0}; must be a tensor"),
        (Centred, "an answer depends on other sequences of a batch; keep them apart"),
    ],
)
def test_what_would_be_lost_is_one_line(network, message):
    with pytest.raises(InputError) as raised:
        check_network(make_plain("argmax", network), 0)
    assert str(raised.value).startswith(f"network {network.__name__}: {message}")


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
