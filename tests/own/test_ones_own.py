"""A task, a normaliser, an attention map and a network as what they are: train, evaluate, inside."""

import pickle
import re

import numpy as np
import pytest
import torch
from checkout import ROOT
from own_tasks import Drawn, Mean, OneCategory, labelling, own
from plain_plans import Bag
from small import smoke
from things import Map, Norm
from torch import nn

from vanishing_variance import evaluate, inside, module, train
from vanishing_variance.engine import registry
from vanishing_variance.harness.errors import InputError
from vanishing_variance.networks import transformer
from vanishing_variance.tasks.argmax import Argmax

pytestmark = pytest.mark.trains


WRONG = own(OneCategory, label=lambda self, batch: Drawn.label(self, batch) + 1)


class Narrower:
    LEARNABLE = {}

    @staticmethod
    def normalise(outputs, parameters, epsilon):
        return outputs[..., 1:]


@pytest.mark.parametrize("network", [None, *registry.names("networks")])
def test_objects_are_trained_and_evaluated_by_both_engines(network):
    models = train(smoke(), Mean(bins=4), Norm, [0, 3], attention=Map, network=network, steps=3)
    assert models.losses.groupby("seed")["step"].max().to_dict() == {0: 3, 3: 3}
    names = f"Mean, Norm, {models.plan.variant.attention_name}, network {network or 'paper'}"
    assert repr(models).startswith(f"Trained({names}, seeds [0, 3], 3 steps")
    accuracy = evaluate(models, [4, 64], 20)
    assert set(accuracy["rule"]) == {"last", "hard", "averaged"}
    assert accuracy.groupby(["rule", "length"])["seed"].agg(list).tolist() == [[0, 3]] * (len(accuracy) // 2)
    means = inside(models, [4], 20)
    assert set(means["seed"]) == {0, 3}
    assert means["target"].isna().all()
    assert (means["variance"] > 0).all()


def test_a_normaliser_of_modules_is_trained_by_the_plain_engine(capsys):
    models = train(smoke(), Mean(), nn.LayerNorm, [0], steps=2)
    assert "network.norm.weight" in models.weights
    said = "LayerNorm Mean-0: trained by the plain engine, because the normaliser is made of modules"
    assert said in capsys.readouterr().err


def test_the_module_of_a_seed_has_its_weights_and_answers_as_the_fast_engine():
    models = train(smoke(), "dictionary", Norm, [0, 3], steps=3)
    arrays = models.plan.variant.task.sample(np.random.default_rng(0), 20, 16)
    batch = {name: torch.from_numpy(array) for name, array in arrays.items()}
    weights = {name: torch.from_numpy(array) for name, array in models.weights.items()}
    logits = models.plan.variant.network()(weights, {name: array.unsqueeze(0) for name, array in batch.items()})
    for place, seed in enumerate((0, np.int64(3))):
        for one in (module(models, seed), pickle.loads(pickle.dumps(module(models, seed)))):
            torch.testing.assert_close(one(batch), logits[place], rtol=1e-4, atol=1e-4, check_stride=False)
    assert not torch.allclose(logits[0], logits[1], rtol=1e-2, atol=1e-2)
    plain = train(smoke(), "dictionary", Norm, [0, 3], network=Bag, steps=3)
    for name, tensor in module(plain, 3).state_dict().items():
        np.testing.assert_array_equal(tensor, plain.weights[name][1])
    with pytest.raises(InputError, match=r"^seed is 1; must be one of \[0, 3\]$"):
        module(models, 1)


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
        ({"seeds": [0, 0]}, r"^seeds is \[0, 0\]; must be different whole numbers from 0 "),
        ({"params": {}}, r"^params\.yaml: .*; .*must "),
        ({"steps": 0}, r"^steps is 0; must be a whole number from 1 on$"),
        ({"task": Mean}, r"^task is <class 'own_tasks.Mean'>; must be a name, or an object of a class that is a Task$"),
        ({"task": WRONG()}, r"^task Own: label has 1 to 2; must be from 0 to 1, of sequences of "),
        ({"task": WRONG(), "network": Bag}, r"^task Own: label has 1 to 2; must be from 0 to 1, of sequences of "),
        ({"norm": Narrower}, r"^norm Narrower: normalise returns float32 \(2, 8, \d+\); must be float32 "),
        ({"norm": Map}, r"^Map: a normaliser has LEARNABLE and normalise, as ln\.py has$"),
        ({"norm": "layer"}, r"^norms: 'layer' is unknown; choose from centred, centred_rms, ln, none, rms, std"),
        ({"attention": Norm}, r"^Norm: an attention map has LEARNABLE, and scale, as ssmax\.py has, or weights, "),
        ({"attention": Map, "network": Bag}, r"^attention is Map; network Bag takes no attention map, "),
        (
            {"params": smoke(attention="power"), "network": Bag},
            r"^attention is power; network Bag takes no attention map, ",
        ),
        ({"network": nn.Linear(2, 3)}, r"^network is Linear\(.*\); must be a class that is an nn\.Module, or "),
        ({"network": "own"}, r"^networks: 'own' is unknown; choose from paper, transformer$"),
        ({"network": Bag, "options": {"widt": 3}}, r"^network Bag has no option 'widt'; its options: width, dropout$"),
        ({"network": "transformer", "options": {"heads": 3}}, r"^network transformer.*heads must divide width"),
        ({"network": "transformer", "options": "width"}, r"^options is 'width'; must be a mapping of names to values$"),
        ({"network": "paper", "options": {"width": 3}}, r"^the options of network paper are the section model and "),
        ({"options": {"width": 3}}, r"^options are those of a network; name it$"),
        (
            {"norm": nn.LeakyReLU},
            r"^norm LeakyReLU would get the width as its negative_slope, 0.01 by default; give a ",
        ),
    ],
)
def test_what_cannot_be_trained_is_one_line(arguments, message):
    with pytest.raises(InputError, match=message):
        train(**{"params": smoke(), "task": Mean(), "norm": "ln", "seeds": [0]} | arguments)


def test_a_task_that_is_wrong_at_a_tested_length_is_not_tested():
    beyond = own(label=labelling(lambda numbers: np.full(len(numbers), numbers.shape[1] // 101 * 10)))
    models = train(smoke(), beyond(), "ln", [0], steps=2)
    for short in (4, 100):
        evaluate(models, [short], 4)
    with pytest.raises(InputError, match=r"^task Own: label has .* must be from 0 to 9, of sequences of 101 items$"):
        evaluate(models, [101], 4)


class Pooled(nn.Module):
    """One's own network that takes an attention map."""

    def __init__(self, sizes, norm, attention, *, heads: int = 2, rows: int = 2):
        super().__init__()
        self.rows, self.logits, self.attention = rows, nn.Linear(sizes.items, heads), attention(heads)
        self.norm, self.head = norm(heads * sizes.items), nn.Linear(heads * sizes.items, sizes.classes)

    def forward(self, items, query):
        weights = self.attention(self.logits(items).mT[:, : self.rows])
        return self.head(self.norm((weights @ items).flatten(1)))


@pytest.mark.parametrize(("attention", "rules"), [("power", {"hard", "adaptive"}), (Map, {"hard"})])
def test_a_network_that_takes_an_attention_map_is_tested_by_the_rules_that_change_it(attention, rules):
    models = train(smoke(), "argmax", "ln", [0, 3], network=Pooled, attention=attention, steps=2)
    accuracy = evaluate(models, [4, 64], 100).set_index(["rule", "length", "seed"])["accuracy"]
    assert set(accuracy.index.get_level_values("rule")) == {"last", "averaged"} | rules
    assert accuracy["hard"].tolist() != accuracy["last"].tolist()


def test_a_map_that_gets_logits_of_other_heads_is_refused_before_training():
    with pytest.raises(InputError, match=r"^network Pooled.* attention: logits are \(.*, 1, .*\); must be .* 2 heads$"):
        train(smoke(), "argmax", "ln", [0], network=Pooled, options={"rows": 1}, steps=2)


@pytest.mark.parametrize("heading", ["**A task**", "## A network of your own"])
def test_the_example_runs(heading, capsys, monkeypatch):
    _, _, section = (ROOT / "docs/code.md").read_text().partition(heading)
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    monkeypatch.chdir(ROOT)
    exec(code.replace("2000", "2"), {"__name__": "__main__"})
    assert "accuracy" in capsys.readouterr().out


def test_what_a_network_does_not_show_is_not_measured(capsys):
    models = train(smoke(), "argmax", "ln", [0, 3], network=Bag, steps=2)
    accuracy = evaluate(models, [4], 20)
    assert accuracy["accuracy"].between(0, 1).all()
    assert set(accuracy["rule"]) == {"last", "averaged"}
    said = "network Bag: hard and adaptive are not measured; it has no attention map\n"
    assert capsys.readouterr().err.count(said) == 1
    with pytest.raises(InputError, match="not measured"):
        inside(models)


class Shifted(transformer.Network):
    """A network whose `inside` is another's, which computes otherwise."""

    def forward(self, items, query):
        return super().forward(items + 1, query)


def test_what_another_network_shows_and_reads_is_not_taken_for_ones_own(capsys):
    models = train(
        smoke(), "argmax", "ln", [0], network=Shifted, options={"width": 8, "heads": 1, "layers": 1}, steps=2
    )
    assert "warning: model.width, model.attention_biases: read by network paper alone" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"has no method inside.* in the class of its forward"):
        inside(models)
