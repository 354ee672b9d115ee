"""Where accuracy goes: models by hand for each part, and the parts of the fast engine's models."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from plain_plans import make_plain
from small import SHARP, make_trained, models_of, plainly, plan_of, sample
from torch import nn

from vanishing_variance.measure import tested
from vanishing_variance.measure.config import Diagnostics
from vanishing_variance.measure.evaluation.internals import margin
from vanishing_variance.measure.held_out import Test, held_out_stream
from vanishing_variance.measure.parts import PARTS, WRONG
from vanishing_variance.networks import Layer
from vanishing_variance.plain.model import initial_model
from vanishing_variance.results.columns import rows
from vanishing_variance.tasks.argmax import Argmax

SEEDS = [0, 1]
LOOK = Diagnostics(sequences=20, heatmap_sequences=5)


class ByHand(nn.Module):
    """Of argmax: logits are `slope` times the priority, and the answer is the class read, rolled on by `roll`.

    It answers the first class, unless over 0.6 of the attention is on one item of another.
    """

    def __init__(self, sizes, norm, attention, *, slope, roll=0):
        super().__init__()
        self.map, self.slope, self.roll = attention(1), slope, roll
        self.first = nn.Parameter(0.6 * torch.eye(sizes.classes)[0])

    def inside(self, items, query):
        weights = self.map((self.slope * items[..., 0]).unsqueeze(1))
        return [Layer(weights, weights @ items[..., 1:])]

    def forward(self, items, query):
        [layer] = self.inside(items, query)
        return layer.outputs.squeeze(1).roll(self.roll, 1) + self.first


class Pairs(Argmax):
    """Sequences of two items: the target has a class between the first and the last, and the other the next class."""

    def sample(self, rng, sequences, length):
        drawn = super().sample(rng, sequences, 2)
        of_target = rng.integers(1, self.classes - 1, size=(sequences, 1), dtype=np.uint8)
        np.put_along_axis(drawn["class"], drawn["target"][:, None], of_target, axis=1)
        np.put_along_axis(drawn["class"], 1 - drawn["target"][:, None], of_target + 1, axis=1)
        return drawn


@pytest.mark.parametrize(
    ("slope", "roll", "part"),
    [(-1000, 0, "misranked"), (1e-3, 0, "diluted"), (1000, 1, "misread"), (-1000, -1, "right_misranked")],
)
def test_a_model_that_fails_in_one_way_has_all_its_answers_in_that_part(slope, roll, part):
    plan = make_plain("argmax", ByHand, options={"slope": slope, "roll": roll})
    plan = replace(plan, variant=replace(plan.variant, task=Pairs()))
    states = [initial_model(plan, seed).state_dict() for seed in SEEDS]
    weights = {name: np.stack([state[name].numpy() for state in states]) for name in states[0]}
    _, frames = tested.answers(plan, SEEDS, {"last": weights}, Test(lengths=[2], sequences=40), LOOK)
    last = rows(frames["parts"], rule="last")
    assert last["seed"].tolist() == SEEDS
    for name in PARTS:
        assert (last[name] == float(name == part)).all(), name


@pytest.mark.parametrize("heads", [1, 2])
def test_parts_are_those_of_the_plain_module_and_wrong_ones_and_accuracy_are_all(task_name, heads):
    """Of two heads by the one that attends most to the target at the shortest length."""
    trained = make_trained(task_name, "ln", SHARP[task_name], heads=heads)
    averaged = {name: array[::-1].copy() for name, array in trained.weights.items()}
    test = Test(lengths=[6, 40], sequences=100)
    _, frames = tested.answers(plan_of(trained), SEEDS, {"last": trained.weights, "averaged": averaged}, test, LOOK)
    found = frames["parts"].merge(frames["accuracy"]).set_index(["seed", "rule", "length"])
    rules = {"last", "hard", "adaptive"} | ({"averaged"} if heads == 1 else set())
    assert set(found.index.get_level_values("rule")) == rules
    assert_allclose(found[[*WRONG, "accuracy"]].sum(axis=1), 1)
    assert (found.xs("hard", level="rule")["diluted"] == 0).all()

    by_head = None
    for length in test.lengths:
        sequences = held_out(trained, length, 100)
        plain, hard = (plainly(trained, sequences, weigh) for weigh in (None, one_hot))
        labels, target = trained.variant.task.label(sequences), sequences["target"]
        by_head = plain["by_head"][..., range(100), target].mean(-1).argmax(1) if by_head is None else by_head
        for seed in SEEDS:
            ranked = plain["by_head"][seed, by_head[seed]].argmax(-1) == target
            right, if_hard = (of_rule["classes"][seed].argmax(-1) == labels for of_rule in (plain, hard))
            expected = [~right & ~ranked, ~right & ranked & if_hard, ~right & ranked & ~if_hard, right & ~ranked]
            means = [part.mean() for part in expected]
            # the largest of two logits may be another in single precision
            assert_allclose(found.loc[(seed, "last", length), list(PARTS)], means, atol=0.03)
            if heads == 1:
                assert_array_equal(found.loc[(seed, "averaged", length)], found.loc[(1 - seed, "last", length)])


def held_out(trained, length, number):
    return trained.variant.task.sample(held_out_stream(0, trained.variant.task_name, length), number, length)


def one_hot(logits):
    return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).double()


def test_the_margin_is_the_targets_logit_minus_the_largest_of_the_others(task_name):
    trained = make_trained(task_name, "ln", SHARP[task_name])
    sequences = sample(trained, 40, 30)
    plain = plainly(trained, sequences)["logits"]
    target = np.broadcast_to(sequences["target"][:, None], (2, 40, 1))
    others = plain.copy()
    np.put_along_axis(others, target, -np.inf, axis=-1)
    expected = np.take_along_axis(plain, target, axis=-1)[..., 0] - others.max(-1)
    found = margin(sequences, models_of(trained).attended(sequences)).numpy()
    assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * plain.std())
