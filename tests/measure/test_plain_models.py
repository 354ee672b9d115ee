"""Models of the plain engine at test lengths: on the sequences of the fast engine's, in batches that memory holds."""

import resource
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import psutil
import pytest
import torch
from plain_plans import Bag, make_plain
from small import SHARP, make_plan, make_trained, models_of, of_plain_engine, plainly, plan_of

from vanishing_variance.harness import machine, memory
from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure import tested
from vanishing_variance.measure.evaluation.fast_models import accuracies
from vanishing_variance.measure.held_out import Test, held_out_stream
from vanishing_variance.measure.inference.models import at_target
from vanishing_variance.measure.inference.temperature import entropy
from vanishing_variance.measure.plain_models import answers, limited
from vanishing_variance.measure.plain_models.answers import plain_answers
from vanishing_variance.measure.plain_models.inside import inside, inside_and_target
from vanishing_variance.plain.model import as_plain, initial_model
from vanishing_variance.plain.plan import PlainPlan

SEEDS = [0, 1]


def both(task, norm="ln", heads=1):
    """Two models for the fast engine, and the plan and weights of the same models for the plain one."""
    trained = make_trained(task, norm, 3, heads=heads)
    plan = PlainPlan.of_paper(replace(make_plan(task, norm), variant=trained.variant))
    return trained, plan, of_plain_engine(trained)


def drawn(trained, length, number):
    return trained.variant.task.sample(held_out_stream(0, trained.variant.task_name, length), number, length)


@pytest.mark.parametrize(("attention", "heads"), [("softmax", 1), ("power", 2), ("stickbreaking", 2)])
def test_attention_is_changed_by_each_rule_as_in_the_fast_engine(task_name, attention, heads):
    trained = make_trained(task_name, "ln", SHARP[task_name], attention, heads=heads)
    plan = plan_of(trained)
    test = Test(lengths=[6, 40], sequences=100)
    found = []
    for one, weights in ((plan, trained.weights), as_plain(plan, trained.weights)):
        _, frames = tested.answers(one, SEEDS, {"last": weights}, test)
        found.append(frames["accuracy"].set_index(["seed", "rule", "length"])["accuracy"])
    fast, plain = found
    rules = {"last", "hard"} | ({"adaptive"} if attention != "stickbreaking" else set())
    assert set(fast.index.get_level_values("rule")) == rules
    assert fast.groupby("rule").mean().nunique() > 1
    pd.testing.assert_series_equal(plain, fast, atol=0.03, rtol=0)  # the largest of two may be another


def test_accuracies_are_those_of_the_fast_engine(task_name):
    trained, plan, weights = both(task_name)
    other = {name: array[::-1].copy() for name, array in weights.items()}
    correct = plain_answers(plan, SEEDS, {"last": weights, "averaged": other}, [4, 32], 100)
    found = accuracies("here", correct, SEEDS)
    rows = found.set_index(["rule", "length", "seed"])["accuracy"]
    assert set(found["rule"]) == {"last", "averaged", "hard", "adaptive"}
    for length in (4, 32):
        sequences = drawn(trained, length, 100)
        classes = plainly(trained, sequences)["classes"].argmax(-1)
        expected = (classes == trained.variant.task.label(sequences)).mean(axis=1)
        assert len(set(expected)) == 2
        for seed in SEEDS:
            # the largest of two logits may be another in single precision
            assert rows["last", length, seed] == pytest.approx(expected[seed], abs=0.03)
            assert rows["averaged", length, seed] == rows["last", length, 1 - seed]


@pytest.mark.parametrize("heads", [1, 4])
def test_the_inside_of_the_papers_network_is_that_of_the_fast_engine(task_name, heads):
    trained, plan, weights = both(task_name, heads=heads)
    found = inside(plan, SEEDS, weights, [6], 40)
    assert list(found.columns) == ["seed", "layer", "head", "length", "target", "hard", "variance"]
    sequences = drawn(trained, 6, 40)
    attended = models_of(trained).attended(sequences)
    target = at_target(attended.weights, sequences).unflatten(1, (40, heads)).mean(1)
    largest = attended.weights.argmax(-1).unflatten(1, (40, heads))
    hard = (largest == torch.from_numpy(sequences["target"]).view(-1, 1)).double().mean(1)
    variance = attended.before.unflatten(2, (heads, -1)).var(-1, correction=0).mean(1)
    rows = found.set_index(["seed", "head"])
    for seed in SEEDS:
        for head in range(heads):
            assert rows["target"][seed, head] == pytest.approx(target[seed, head].item(), rel=1e-4)
            assert rows["hard"][seed, head] == pytest.approx(hard[seed, head].item(), abs=0.03)  # of equal ones any
            assert rows["variance"][seed, head] == pytest.approx(variance[seed, head].item(), rel=1e-4)


def test_an_item_that_is_masked_has_no_part_in_the_entropy():
    logits = torch.tensor([0.5, 1.0, 2.0])
    masked = torch.cat((logits, torch.full((2,), -torch.inf)))
    assert entropy(masked) == pytest.approx(entropy(logits).item())


def test_parts_are_left_out_where_the_attention_of_one_seed_is_no_number():
    plan, weights = both("argmax")[1:]
    assert set(inside_and_target(plan, SEEDS, weights, [4, 8], 5, 5)[1]) == {4, 8}
    name = next(name for name in weights if "query" in name)
    weights[name] = np.stack([weights[name][0], np.full_like(weights[name][1], np.nan)])
    assert inside_and_target(plan, SEEDS, weights, [4, 8], 5, 5)[1] == {}


def stacked(plan, seeds):
    """The initial weights as they are stored."""
    states = [initial_model(plan, seed).state_dict() for seed in seeds]
    return {name: np.stack([one[name].numpy() for one in states]) for name in states[0]}


class Hungry(Bag):
    """That needs 256 bytes for every pair of items."""

    def forward(self, items, query):
        sequences, length = items.shape[:2]
        pairs = torch.ones(sequences, length, length, 64)
        return super().forward(items, query) + pairs[:, 0, 0, :1]


def test_a_batch_is_halved_until_memory_holds_it(monkeypatch):
    """A sequence of 2^8 items needs 16 MiB, and 100 are free."""
    monkeypatch.setattr(memory, "free_memory", lambda: 100 * 2**20)
    plan, batches, marked = make_plain("argmax", Hungry), [], answers.marked

    def recorded(class_logits, labels):
        batches.append(len(labels))
        return marked(class_logits, labels)

    monkeypatch.setattr(answers, "marked", recorded)
    weights = stacked(plan, SEEDS)
    correct = plain_answers(plan, SEEDS, {"last": weights}, [256], 20)
    assert sum(batches) == 2 * 20
    assert max(batches) < 20
    monkeypatch.setattr(limited, "ITEMS_IN_BATCH", {"cpu": 256})
    alone = plain_answers(plan, SEEDS, {"last": weights}, [256], 20)
    np.testing.assert_array_equal(correct["last", 256], alone["last", 256])


class Noisy(Bag):
    """That draws random numbers when it is tested, too."""

    def forward(self, items, query):
        return super().forward(items, query) + torch.randn(len(items), 1) * torch.arange(10.0)


def test_the_noise_of_a_test_does_not_depend_on_earlier_ones():
    plan = make_plain("argmax", Noisy)
    both = plain_answers(plan, SEEDS, {"last": stacked(plan, SEEDS)}, [4], 100)
    alone = plain_answers(plan, SEEDS[1:], {"last": stacked(plan, SEEDS[1:])}, [4], 100)
    np.testing.assert_array_equal(both["last", 4][1:], alone["last", 4])


def test_a_sequence_that_memory_does_not_hold_is_one_line(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10 * 2**20)
    plan = make_plain("argmax", Hungry)
    message = "^network Hungry with one sequence of 2048 items needs more memory than there is; lower test.lengths$"
    with pytest.raises(InputError, match=message):
        plain_answers(plan, [0], {"last": stacked(plan, [0])}, [2048], 20)


@pytest.mark.skipif(not psutil.LINUX, reason="not Linux")
def test_after_one_without_memory_for_its_kernels_networks_compute_on(monkeypatch):
    """OneDNN makes a kernel for each shape, here of GELU; 251 classes, since no other test has that shape."""
    values = torch.ones(3, 5, 251)

    def kernel() -> torch.Tensor:
        return torch.nn.functional.gelu(values)

    with monkeypatch.context() as full:
        full.setattr(memory, "free_memory", lambda: 0)
        with pytest.raises(RuntimeError) as problem:
            limited._limited(lambda: (kernel(), torch.ones(2**20)))
    assert memory.ran_out(problem.value)
    assert kernel().shape == (3, 5, 251)
    assert limited._limited(kernel).shape == (3, 5, 251)


def test_a_batch_is_computed_by_as_many_threads_as_the_caller_has(monkeypatch):
    """MKL counts them for each thread that calls it, and products of more have other last bits."""
    expected, numbers = torch.get_num_threads(), {}
    monkeypatch.setattr(torch, "set_num_threads", lambda number: numbers.update({threading.get_ident(): number}))
    at_work = limited._limited(threading.get_ident)
    assert at_work != threading.get_ident()
    assert numbers == {at_work: expected}


@pytest.mark.skipif(not psutil.LINUX, reason="not Linux")
def test_a_batch_has_the_part_of_a_core_even_in_a_stage_that_has_one(monkeypatch):
    """Stages that run at once have a core each; here of four cores and 400 MiB of free memory."""
    monkeypatch.setattr(memory, "free_memory", lambda: 400 * 2**20)
    monkeypatch.setattr(machine, "cores", lambda: 4)
    used = psutil.Process().memory_info().data
    limit, _ = limited._limited(lambda: resource.getrlimit(resource.RLIMIT_DATA))
    assert used < limit < used + 120 * 2**20
