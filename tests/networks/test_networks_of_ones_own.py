"""Networks of no file of the project, by the documented steps: train, evaluate, inside."""

import re
from pathlib import Path

import pandas as pd
import pytest
from plain_plans import Bag, Recurrent
from torch import nn

from vanishing_variance import evaluate, inside, read_params, train
from vanishing_variance.harness.errors import InputError
from vanishing_variance.plain.plan import network_names

ROOT = Path(__file__).resolve().parents[2]
SEEDS = [0, 3]


def params(**changes):
    steps = {f"tasks.{task}.steps.short": 3 for task in ("argmax", "dictionary")}
    return read_params(steps | changes, ROOT / "tests/smoke.yaml")


class WithNumber(Bag):
    """With a buffer that is a number, of how many batches there were."""

    def __init__(self, sizes, norm):
        super().__init__(sizes, norm)
        self.norm = nn.BatchNorm1d(8)


@pytest.mark.trains
@pytest.mark.parametrize("network", [Bag, Recurrent, WithNumber, *network_names()])
def test_a_network_is_trained_and_evaluated(task_name, network):
    models = train(params(), task_name, "ln", SEEDS, network=network)
    assert models.losses.groupby("seed")["step"].max().to_dict() == {0: 3, 3: 3}
    accuracy = evaluate(models, lengths=[4, 64], sequences=20)
    rows = accuracy.set_index(["rule", "length", "seed"])["accuracy"].sort_index()
    assert rows.index.equals(pd.MultiIndex.from_product([["averaged", "last"], [4, 64], SEEDS]))
    assert rows.between(0, 1).all()
    if isinstance(network, str):
        assert set(inside(models, [4], 20)["seed"]) == set(SEEDS)
    else:
        with pytest.raises(InputError, match="not measured"):
            inside(models)


@pytest.mark.trains
def test_by_default_it_is_that_of_the_parameters():
    models = train(params(network="transformer", network_options={"layers": 1}), "argmax", "ln", SEEDS)
    assert (models.plan.network, models.plan.options) == ("transformer", {"layers": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"network": nn.Linear(2, 3)},
            r"^networks: Linear\(.*\) is unknown; choose from paper, transformer, or give a class$",
        ),
        ({"network": Bag, "options": {"widt": 3}}, r"^network Bag has no option 'widt'; its options: width, dropout$"),
        ({"network": Bag, "options": {"width": 3.5}}, r"^network Bag: option width is 3\.5; must be a valid integer$"),
        ({"network": "transformer", "options": {"heads": 3}}, r"^network transformer.*heads must divide width"),
        ({"network": "paper", "options": {"width": 3}}, r"^the options of network paper are the section model and "),
        ({"network": "transformer", "attention": "power"}, r"^attention is power; no other network than paper has an "),
        ({"options": {"width": 3}}, r"^options are those of a network; name it$"),
    ],
)
def test_mistakes_are_one_line(arguments, message):
    with pytest.raises(InputError, match=message):
        train(params(), "argmax", "ln", SEEDS, **arguments)


@pytest.mark.trains
def test_the_example_runs(capsys):
    text = (ROOT / "docs/code.md").read_text()
    _, _, section = text.partition("## A network of your own")
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    assert len(code.splitlines()) <= 22
    exec(code.replace("2000", "2"), {"__name__": "__main__"})
    assert "accuracy" in capsys.readouterr().out
