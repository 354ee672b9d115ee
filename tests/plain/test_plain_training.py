"""The plain engine: held to the fast one, and to itself when it is cut off or trains several seeds at once."""

from functools import partial

import numpy as np
import pytest
import torch
from plain_plans import Bag, Recurrent, make_plain
from rounding import in_double
from small import cut_off, start
from torch import nn

from vanishing_variance.engine import loop
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.steps import FastSteps
from vanishing_variance.harness.arrays import read_about
from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.inference.stored import remove_finished_checkpoints
from vanishing_variance.networks.paper import state_of_seed
from vanishing_variance.plain import training as plain_training
from vanishing_variance.plain.gradients import Single, Stacked, can_stack
from vanishing_variance.plain.model import initial_model
from vanishing_variance.plain.training import train_block

SEEDS = [5, 2]
pytestmark = [pytest.mark.trains, pytest.mark.usefixtures("record_every_five_steps")]


class WithState(Bag):
    """With what else training may change: dropout, and running statistics."""

    def __init__(self, sizes, norm, *, dropout: float = 0.0):
        super().__init__(sizes, norm, dropout=dropout)
        self.norm = nn.BatchNorm1d(8)
        self.scale = self.same = nn.Parameter(torch.tensor(1.0))
        self.fixed = nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, items, query):
        return self.scale * super().forward(items, query)


class Masked(Bag):
    """With a constant that is not finite, as a mask of logits."""

    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.register_buffer("mask", torch.tensor([0.0, -torch.inf]))


class Late(Bag):
    """That binds a buffer anew once there are more than two steps, which it counts."""

    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, items, query):
        self.steps += self.training
        if self.steps > 2:
            self.steps = self.steps.clone()
        return super().forward(items, query)


class Looking(Bag):
    """That looks at its values."""

    def forward(self, items, query):
        return super().forward(items if items.sum() > 0 else -items, query)


def trained(plan, seeds=SEEDS, models=None):
    """Train in double precision; return losses, last weights and those kept beside them."""
    models = models or Single(initial_model(plan, seeds[0]).double())
    losses, kept = loop.train(plan, plain_training.PlainSteps(plan, models, seeds), seeds)
    return losses, {"last": models.weights, **kept}


@pytest.fixture
def double(monkeypatch):
    """Batches in double precision."""
    original = loop.training_batches

    def drawn(*arguments):
        return ((in_double(batch), labels) for batch, labels in original(*arguments))

    monkeypatch.setattr(loop, "training_batches", drawn)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize(
    ("norm", "decay", "model"),
    [
        ("ln", "none", {}),
        ("none", "cosine", {"heads": 4, "attention_biases": True}),
        ("rms", "none", {"projection": "direct"}),
    ],
)
def test_the_papers_network_is_trained_as_by_the_fast_engine(task_name, norm, decay, model):
    settings = {"decay": decay, "weight_decay": 0.1, "averaged_part": 0.9, "kept_steps": [4], "model": model}
    plan = make_plain(task_name, "paper", norm, **settings)
    for seed in SEEDS:
        first = start(plan, [seed])
        model = initial_model(plan, seed)
        assert all(torch.equal(tensor, state_of_seed(first, 0)[name]) for name, tensor in model.state_dict().items())
        weights = in_double(first)
        of_fast, fast_others = loop.train(plan, FastSteps(plan, weights), [seed])
        losses, ours = trained(plan, [seed])
        np.testing.assert_allclose(losses, of_fast, rtol=1e-5)
        assert ours.keys() == {"last", "averaged", "step_00000004"}
        for kind, expected in {"last": weights, **fast_others}.items():
            for name, tensor in state_of_seed(expected, 0).items():
                # as in tests/engine/test_training.py; the others are in single precision
                torch.testing.assert_close(ours[kind][name][0], tensor, rtol=1e-6, atol=1e-6, msg=name)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("network", ["paper", "transformer", Recurrent, WithState])
def test_seeds_at_once_are_each_seed_alone(task_name, network):
    plan = make_plain(task_name, network, averaged_part=0.9, weight_decay=0.1)
    models = [initial_model(plan, seed).double() for seed in SEEDS]
    losses, together = trained(plan, SEEDS, Stacked(models))
    for place, seed in enumerate(SEEDS):
        of_seed, alone = trained(plan, [seed])
        np.testing.assert_allclose(losses[:, place], of_seed[:, 0], rtol=1e-5)
        for kind, weights in alone.items():
            for name, tensor in weights.items():
                torch.testing.assert_close(together[kind][name][place], tensor[0], rtol=1e-6, atol=1e-6, msg=name)


class Half(Bag):
    """Each seed has its own half of the features, which its state does not say."""

    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.half = torch.randperm(8)[:4].tolist()


class Hooked(Bag):
    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.head.weight.register_hook(lambda gradient: gradient * 2)


@pytest.mark.parametrize(
    ("network", "options", "said"),
    [
        (Bag, {}, ""),
        (Bag, {"dropout": 0.5}, "random"),
        (Looking, {}, "network Looking: one seed after another, for torch.func refuses it: "),
        (Half, {}, "one seed after another, for network.half is not the same for each"),
        (Hooked, {}, "one seed after another, for its parameters have hooks"),
    ],
)
def test_models_that_cannot_be_trained_as_one_are_a_line(network, options, said, capsys):
    plan = make_plain("argmax", network, options=options)
    batch, labels = next(batches(plan, SEEDS))
    assert can_stack([initial_model(plan, seed) for seed in SEEDS], batch, labels) == (not said)
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count("\n") == bool(said)


def test_what_is_bound_anew_in_a_later_step_is_one_line():
    assert train_block(make_plain("argmax", Masked), [0]).weights["network.mask"].tolist() == [[0.0, -np.inf]]
    with pytest.raises(InputError, match=r"^network Late: forward binds network\.steps anew, "):
        train_block(make_plain("argmax", Late), [0])


def test_variants_of_a_seed_start_alike_and_seeds_do_not():
    none, ln = (initial_model(make_plain("argmax", "transformer", norm), 2).state_dict() for norm in ("none", "ln"))
    assert {name.rpartition(".")[2] for name in ln.keys() - none.keys()} == {"scale", "shift"}
    assert all(torch.equal(tensor, ln[name]) for name, tensor in none.items())
    other = initial_model(make_plain("argmax", "transformer", "none"), 3).state_dict()
    assert not any(torch.equal(tensor, other[name]) for name, tensor in none.items() if "norm" not in name)


def bytes_of(block):
    kinds = {"last": block.weights, **block.kept}
    arrays = {f"{kind}.{name}": array for kind, weights in kinds.items() for name, array in weights.items()}
    return {name: array.tobytes() for name, array in arrays.items()} | {
        "losses": block.losses["loss"].to_numpy().tobytes()
    }


@pytest.mark.parametrize(("network", "steps"), [("transformer", [1]), (WithState, [3, 8, 9])])
def test_a_training_that_was_cut_off_ends_with_the_same_bits(network, steps, tmp_path):
    options = {"dropout": 0.5} if network is WithState else {}
    settings = {"averaged_part": 0.9, "kept_steps": [4, 8], "weight_decay": 0.01, "decay": "cosine"}
    plan = make_plain("dictionary", network, options=options, **settings)
    path = tmp_path / "0.safetensors"
    # a class has no checkpoints by `train_block`
    run = partial(plain_training._train_chunk, plan, [0], path, lambda done: None)
    whole = bytes_of(train_block(plan, [0]))
    for step in steps:
        cut_off(run, step)
        assert read_about(path)["completed"] == step
    assert bytes_of(run()) == whole


def test_a_named_network_has_a_checkpoint_a_seed_and_a_class_has_none(tmp_path):
    train_block(make_plain("argmax", Bag), SEEDS, tmp_path)
    assert list(tmp_path.iterdir()) == []
    block = train_block(make_plain("argmax", "transformer"), SEEDS, tmp_path)
    assert sorted(path.name[:2] for path in tmp_path.iterdir()) == ["2-", "5-"]
    remove_finished_checkpoints(tmp_path, block.weights)
    assert list(tmp_path.iterdir()) == []
