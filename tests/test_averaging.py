from dataclasses import replace

import pandas as pd
import pytest
import torch

from benchmarks import averaging
from benchmarks.protocols import LENGTHS, PROTOCOLS, protocol_plan
from vanishing_variance.model.initialisation import draw
from vanishing_variance.training.loop import train


def quiet(done):
    pass


@pytest.mark.parametrize("task", ["argmax", "dictionary"])
def test_the_mean_is_of_the_weights_of_trainings_that_end_there_and_the_last_weights_are_a_plain_trainings(task):
    plan = replace(protocol_plan(task, "ln", PROTOCOLS["biases"]), steps=200)
    last, mean = averaging.trained(plan, [0, 3], quiet)
    ends = []
    for steps in (190, 200):  # the tenth and twentieth of the last 20 steps
        weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, task, [0, 3])
        train(replace(plan, steps=steps), weights, [0, 3])
        ends.append(weights)
    for name, of in last.items():
        assert torch.equal(of, ends[1][name])
        expected = (ends[0][name].double() + ends[1][name]) / 2
        torch.testing.assert_close(mean[name].double(), expected, rtol=1e-6, atol=1e-9)
    assert not torch.equal(mean["attention.query"], last["attention.query"])


def test_the_loss_is_on_the_batches_that_come_after_the_last_step(monkeypatch):
    monkeypatch.setattr(averaging, "BATCHES", 2)
    plan = replace(protocol_plan("argmax", "none", PROTOCOLS["biases"]), steps=3)
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, "argmax", [0, 1])
    found = averaging.training_loss(plan, [0, 1], weights)
    frozen = replace(plan, steps=5, training=plan.training.model_copy(update={"learning_rate": 1e-30}))
    seen = []
    original = averaging.losses
    monkeypatch.setattr("vanishing_variance.training.loop.losses", lambda *of: seen.append(original(*of)) or seen[-1])
    train(frozen, weights, [0, 1])
    expected = torch.stack([of.detach().mean(1) for of in seen[3:]]).mean(0)
    torch.testing.assert_close(torch.from_numpy(found), expected, rtol=1e-5, atol=1e-6)


def test_a_protocol_is_tabled_with_both_gains_and_whether_they_are_as_foretold():
    accuracy = {("none", "last"): 0.5, ("ln", "last"): 0.7, ("none", "mean"): 0.8, ("ln", "mean"): 0.75}
    loss = {("none", "last"): 0.05, ("ln", "last"): 0.03, ("none", "mean"): 0.004, ("ln", "mean"): 0.003}
    rows = [
        ("dictionary", "some", norm, weights, seed, temperature, length, right, loss[norm, weights], 0.1 + seed)
        for (norm, weights), of in accuracy.items()
        for seed in range(4)
        for temperature, right in (("plain", of + 0.01 * seed), ("adaptive", 0.9))
        for length in LENGTHS
    ]
    found = pd.DataFrame(rows, columns=averaging.COLUMNS)
    [line] = [of for of in averaging.markdown(found).splitlines() if of.startswith("| dictionary | some |")]
    assert [cell.strip() for cell in line.split("|")[1:-1]] == [
        *("dictionary", "some", "4", "0.0500", "0.0300", "0.0040", "0.0030"),
        *("+20.0 [+20.0, +20.0]", "-5.0 [-5.0, -5.0]", "-25.0 [-25.0, -25.0]", "yes"),
        *("+30.0 [+30.0, +30.0]", "+5.0 [+5.0, +5.0]"),
        *("51.5", "71.5", "81.5", "76.5", "1.60", "1.60", "1.60", "1.60"),
    ]
    gained = found.assign(loss=found["loss"].where(found["norm"] == "ln", 0.05))
    assert "| no |" in averaging.markdown(gained)
    ran = averaging.markdown(found.assign(protocol="biases"))
    assert "not run: dictionary, width 128, logits not scaled; " in ran
    assert ran.endswith("; argmax, biases.\n")


def test_a_protocol_that_is_not_of_the_task_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["averaging", "argmax", "std 1"])
    with pytest.raises(SystemExit) as refused:
        averaging.main()
    assert refused.value.code == 2
    assert "std 1: choose from: biases" in capsys.readouterr().err
