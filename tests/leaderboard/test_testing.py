from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from small import make_model, make_plan

from vanishing_variance.core import parallel
from vanishing_variance.core.seeding import stream
from vanishing_variance.fitting.fit import FitPlan, fit_block
from vanishing_variance.inference.models import Models
from vanishing_variance.inference.temperature import UNCHANGED, Temperature
from vanishing_variance.leaderboard.files import RULES
from vanishing_variance.leaderboard.testing import answer, measure_treatment
from vanishing_variance.model.initialisation import draw
from vanishing_variance.reference import Reference
from vanishing_variance.training.loop import train


def made(task, attention, projection, seeds=(0, 1)):
    """Briefly trained models of a treatment, single precision."""
    plan = make_plan(task, "none", steps=250, model=make_model(projection=projection))
    plan = replace(plan, variant=replace(plan.variant, attention_name=attention))
    weights = draw(plan.variant.initial(plan.task_training), 0, task, seeds)
    train(plan, weights, seeds)
    return plan.variant, {name: tensor.numpy() for name, tensor in weights.items()}


def first(logits):
    """The logits of the first query."""
    return logits.view(-1, *logits.shape[-2:])[0]


def in_parts(drawn, size):
    for first in range(0, len(drawn["query"]), size):
        yield {name: array[first : first + size] for name, array in drawn.items()}


@pytest.mark.parametrize("projection", ["mlp", "direct", "qk_norm"])
@pytest.mark.parametrize("attention", ["softmax", "power", "entmax15", "sigmoid", "differential"])
def test_answers_and_weights_are_those_of_the_plain_module(task_name, attention, projection):
    if (attention, projection) == ("differential", "qk_norm"):
        return  # refused
    variant, weights = made(task_name, attention, projection)
    drawn = variant.task.sample(stream(0, "here"), 300, 40)
    found = answer(Models.of(variant, weights), drawn)
    labels, batch = torch.from_numpy(variant.task.label(drawn)), {n: torch.from_numpy(a) for n, a in drawn.items()}
    batch = {name: array.double() if array.is_floating_point() else array for name, array in batch.items()}
    for place in (0, 1):
        network = variant.network()
        plain = Reference(variant.task, network.norm, variant.model, 16, network.attention)
        plain.load({name: torch.from_numpy(array) for name, array in weights.items()}, place)
        plain, seen = plain.double(), []
        of_map = plain._weights

        def kept(logits, of_map=of_map, seen=seen):
            seen.append((logits, of_map(logits)))
            return seen[-1][1]

        plain._weights, outputs = kept, []
        plain.attention["output"].register_forward_pre_hook(lambda _, x, outputs=outputs: outputs.append(x[0]))
        with torch.no_grad():
            correct = plain(batch).argmax(-1) == labels
            [(_, shares)] = seen
            plain._weights = lambda logits: torch.nn.functional.one_hot(first(logits).argmax(-1), 40).double()
            hard = plain(batch).argmax(-1) == labels
            plain._weights = lambda logits: torch.full_like(first(logits), 1 / 40)
            assert (correct != (plain(batch).argmax(-1) == labels)).sum() > 10
            plain._weights = lambda logits: torch.nn.functional.one_hot(logits.argmin(-1), 40).double()
            assert (hard != (plain(batch).argmax(-1) == labels)).sum() > 10
        # an answer may hang on the last bits of two class logits
        assert (found["trained"][place].bool() != correct).sum() <= 2
        assert (found["hard"][place].bool() != hard).sum() <= 2
        expected = shares.gather(-1, batch["target"].unsqueeze(-1)).squeeze(-1)
        torch.testing.assert_close(found["target"][place].double(), expected, rtol=1e-2, atol=1e-4)
        torch.testing.assert_close(
            found["variance"][place].double(), outputs[0].var(-1, correction=0), rtol=1e-2, atol=0
        )


def test_softmax_is_tested_as_in_the_study_with_its_adaptive_temperature(briefly_trained):
    plan, weights = briefly_trained
    models = Models.of(plan.variant, {name: tensor.float().numpy() for name, tensor in weights.items()})
    drawn = plan.variant.task.sample(stream(0, "here"), 400, 200)
    fitted = Temperature((0.5, 1.0), 0.0, 9.0)
    found, study = answer(models, drawn, fitted), models.answer(drawn, fitted)
    for ours, theirs in (("trained", "plain"), ("adaptive", "adaptive"), ("fitted", "fitted")):
        assert (found[ours].bool() != study.correct[theirs]).sum() <= 4  # the last bits of two class logits
    assert (found["adaptive"] != found["trained"]).sum() > 4
    assert (found["fitted"] != found["adaptive"]).sum() > 4
    assert (found["hard"] != found["trained"]).sum() > 4


def test_other_maps_have_no_temperature(task_name):
    variant, weights = made(task_name, "sigmoid", "mlp")
    assert set(answer(Models.of(variant, weights), variant.task.sample(stream(0), 5, 4))) == {
        "trained",
        "hard",
        "target",
        "variance",
    }


def test_frames_have_a_row_a_seed_rule_and_length(task_name, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    variant, weights = made(task_name, "power", "direct")
    drawn = {length: variant.task.sample(stream(0, length), 50, length) for length in (4, 40)}
    read = {length: partial(in_parts, of) for length, of in drawn.items()}
    accuracy, attention = measure_treatment(FitPlan("here", 0, variant, [4, 40], 100), weights, [4, 7], read)
    index = [(seed, rule, length) for seed in (4, 7) for rule in sorted(RULES) for length in (4, 40)]
    assert list(accuracy[["seed", "rule", "length"]].itertuples(index=False, name=None)) == index
    assert list(attention[["seed", "length"]].itertuples(index=False, name=None)) == [(4, 4), (4, 40), (7, 4), (7, 40)]
    second = Models.of(variant, {name: array[1:] for name, array in weights.items()})
    alone = answer(second, drawn[40])
    found = accuracy.query("seed == 7 and rule == 'hard' and length == 40")["accuracy"].item()
    assert found == pytest.approx(alone["hard"].double().mean().item())
    found = attention.query("seed == 7 and length == 40")["target"].item()
    assert found == pytest.approx(np.float64(alone["target"].double().mean()), rel=1e-6)


def test_each_half_is_tested_with_the_temperature_of_the_other(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    variant, weights = made("dictionary", "softmax", "mlp")
    drawn = variant.task.sample(stream(0, "here"), 300, 200)
    plan = FitPlan("here", 0, variant, [100, 200], 200)
    accuracy, _ = measure_treatment(plan, weights, [4, 7], {200: partial(in_parts, drawn)})
    fits = fit_block(plan, weights)
    assert fits["first"][0] != UNCHANGED != fits["second"][0]
    for place, (seed, half) in enumerate(((4, "first"), (7, "second"))):
        models = Models.of(variant, {name: array[place : place + 1] for name, array in weights.items()})
        expected = answer(models, drawn, fits[half][0])["fitted"].double().mean().item()
        of_seed = accuracy[(accuracy["seed"] == seed) & (accuracy["rule"] == "fitted")]
        assert of_seed["accuracy"].item() == pytest.approx(expected)


@pytest.mark.parametrize("treatment", [("softmax", "qk_norm"), ("sigmoid", "mlp")])
def test_what_is_no_softmax_of_folded_keys_has_no_fitted_temperature(treatment, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    variant, weights = made("argmax", *treatment)
    drawn = variant.task.sample(stream(0, "here"), 20, 8)
    plan = FitPlan("here", 0, variant, [8], 10)
    accuracy, _ = measure_treatment(plan, weights, [0, 1], {8: partial(in_parts, drawn)})
    assert "fitted" not in set(accuracy["rule"])
    assert {"trained", "hard"} <= set(accuracy["rule"])
