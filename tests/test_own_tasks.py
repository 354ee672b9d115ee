"""A task, a normaliser and an attention map as what they are: train, evaluate, inside."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from own_tasks import Drawn, Mean
from torch import nn

from vanishing_variance import OneHot, evaluate, inside, read_params, train
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.tasks.argmax import Argmax

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.trains


def smoke(**changes):
    return read_params(changes, ROOT / "tests/smoke.yaml")


class Largest:
    LEARNABLE = {"scale": 1.0}

    @staticmethod
    def normalise(outputs, parameters, epsilon):
        return outputs / (outputs.abs().amax(-1, keepdim=True) + epsilon) * parameters["scale"]


class Squared:
    LEARNABLE = {}

    @staticmethod
    def weights(logits, parameters):
        weights = torch.softmax(logits, dim=-1)
        return weights / weights.square().sum(-1, keepdim=True).sqrt()


@pytest.mark.parametrize("network", [None, "paper", "transformer"])
def test_objects_are_trained_and_evaluated_by_both_engines(network):
    attention = None if network == "transformer" else Squared
    models = train(smoke(), Mean(bins=4), Largest, [0, 3], attention=attention, network=network, steps=3)
    assert repr(models).startswith(f"Trained(Mean, Largest, network {network or 'paper'}, seeds [0, 3], 3 steps")
    accuracy = evaluate(models, [4, 64], 20)
    assert set(accuracy["rule"]) == ({"last", "hard", "averaged"} if network is None else {"last", "averaged"})
    assert accuracy.groupby(["rule", "length"])["seed"].agg(list).tolist() == [[0, 3]] * (len(accuracy) // 2)
    if network:
        means = inside(models, [4], 20)
        assert means["target"].isna().all()
        assert (means["variance"] > 0).all()


def test_a_normaliser_of_modules_is_taken_where_the_plain_engine_trains():
    models = train(smoke(), Mean(), nn.LayerNorm, [0], network="paper", steps=2)
    assert "network.norm.weight" in models.weights
    with pytest.raises(InputError, match=r"^LayerNorm: a normaliser has LEARNABLE and normalise, as ln.py has"):
        train(smoke(), Mean(), nn.LayerNorm, [0], steps=2)


def test_a_task_of_a_file_is_that_of_its_name():
    named, given = (train(smoke(), task, "ln", [0], steps=2) for task in ("argmax", Argmax(classes=3)))
    assert given.plan.variant.task_name == "argmax"
    other = train(smoke(), Argmax(classes=5), "ln", [0], steps=2)
    assert all(np.array_equal(named.weights[name], given.weights[name]) for name in named.weights)
    assert other.weights["head.2.bias"].shape == (1, 5)
    assert other.params["tasks"]["argmax"]["data"] == {"classes": 5}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": Mean}, r"^task is <class 'own_tasks.Mean'>; must be a name, or an object of a class that is a Task$"),
        ({"task": "sort"}, r"^tasks: 'sort' is unknown; choose from argmax, dictionary"),
        ({"steps": 0}, r"^steps is 0; must be a whole number from 1 on$"),
        ({"norm": Squared}, r"^Squared: a normaliser has LEARNABLE and normalise, as ln\.py has$"),
        (
            {"attention": Largest},
            r"^Largest: an attention map has LEARNABLE, and scale, as ssmax\.py has, or weights, ",
        ),
        ({"attention": Squared, "network": "transformer"}, r"^attention is Squared; no other network than paper has "),
    ],
)
def test_mistakes_are_one_line(arguments, message):
    with pytest.raises(InputError, match=message):
        train(smoke(), **{"task": Mean(), "norm": "ln", "seeds": [0]} | arguments)


class Wrong(Drawn):
    items = {"class": OneHot(2)}

    def label(self, batch):
        return super().label(batch) + 1


@pytest.mark.parametrize("network", [None, "transformer"])
def test_a_wrong_task_is_not_trained(network):
    with pytest.raises(InputError, match=r"^task Wrong: label has 1 to 2; must be from 0 to 1$"):
        train(smoke(), Wrong(), "ln", [0], network=network)


def test_the_example_runs_and_its_classes_reach_other_processes(capsys, monkeypatch):
    _, _, section = (ROOT / "docs/code.md").read_text().partition("**A task**")
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    assert len(code.splitlines()) <= 20
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    names = {"__name__": "__main__"}
    exec(code.replace("2000", "2"), names)
    assert "accuracy" in capsys.readouterr().out
    assert isinstance(names["models"].losses, pd.DataFrame)
