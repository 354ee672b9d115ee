"""What Proposition 1 reasons with, by its definitions, and the variances that are measured beside it."""

import numpy as np
import pytest
from scipy import stats
from small import SHARP, make_dependent, make_trained, plainly, single

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness import parallel
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.proposition import measurement
from vanishing_variance.measure.proposition.config import Proposition
from vanishing_variance.measure.proposition.expectation import expected
from vanishing_variance.measure.proposition.measurement import measure
from vanishing_variance.measure.proposition.summary import exponents, summary
from vanishing_variance.statistics.moments import variance
from vanishing_variance.tasks.argmax import task as argmax
from vanishing_variance.tasks.dictionary import task as dictionary


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)


def measured(lengths, sequences, *trained):
    return measure(trained, Proposition(lengths=lengths, sequences=sequences, tail=1), 0)


def expected_of(trained):
    return expected(Models.of(trained.variant, single(trained, 0)), trained.variant.task.enumerate_iid)


def directly(trained):
    """By their definitions, over all items: sigma_d^2, the delta method's constant, and its upper limit."""
    if trained.variant.task_name == "dictionary":
        value, key = np.divmod(np.arange(256 * 8), 256)
        items = {"key": key[None], "value": value[None], "query": np.full(1, dictionary.IID_QUERY)}
    else:
        classes, middle = np.divmod(np.arange(10 * 1000), 1000)
        priority = (middle + 0.5) / 1000
        items = {"priority": priority[None], "class": classes[None], "query": np.full(1, argmax.IID_QUERY)}
    plain = plainly(trained, items)
    weight, values = len(plain["logits"][0]) * plain["weights"][0][:, None], plain["values"][0]
    mu = (weight * values).mean(axis=0)
    constant = (weight * (values - mu)).var(axis=0)
    return values.var(axis=0), constant, weight.max() ** 2 * values.var(axis=0)


@pytest.mark.parametrize(("task_name", "in_part"), [("argmax", 1), ("dictionary", 1000), ("dictionary", 2**16)])
def test_expectations_are_those_over_all_items(task_name, in_part, monkeypatch):
    monkeypatch.setattr(dictionary, "ITEMS_IN_PART", in_part)
    trained = make_trained(task_name, sharpness=SHARP[task_name])
    theory = expected_of(trained)
    item_variance, constant, limit = directly(trained)
    np.testing.assert_allclose(theory.item_variance, item_variance, rtol=1e-3)
    np.testing.assert_allclose(theory.constant, constant, rtol=1e-3)
    assert (theory.constant < limit).all()
    assert np.median(constant / item_variance) > 1.2


@pytest.mark.parametrize("logit", [15, 1000])
def test_where_one_class_takes_all_attention_only_its_items_count(logit):
    """So each tenth item does, and the variance of an item is divided by N / 10; e^1000 overflows."""
    theory = expected_of(make_dependent(logit))
    priority = (np.arange(10**5) + 0.5) / 10**5
    of_others = (priority * stats.norm.cdf(priority)).var()
    assert theory.item_variance[:3] == pytest.approx([9, of_others, 0], rel=1e-4)
    assert theory.constant[:3] == pytest.approx([0, 10 * of_others, 0], rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("at_once", [200, 2**18])
def test_it_measures_what_the_plain_module_computes(task_name, at_once, monkeypatch):
    """With every normaliser O before it, of the same sequences: drawn so many items at a time, or one by one."""
    monkeypatch.setattr(measurement, "ITEMS_AT_ONCE", at_once)
    trained = {norm: make_trained(task_name, norm, SHARP[task_name]) for norm in ("none", "ln")}
    cells = measured([16, 300], 15, *trained.values()).groupby(["task", "norm", "length"])
    assert set(cells.groups) == {(task_name, norm, length) for norm in trained for length in (16, 300)}
    for (_, norm, length), cell in cells:
        rng, size = stream(0, "proposition", task_name, length), max(1, at_once // length)
        pieces = [trained[norm].variant.task.sample_iid(rng, size, length) for _ in range(0, 15, size)]
        drawn = {name: np.concatenate([piece[name] for piece in pieces])[:15] for name in pieces[0]}
        plain = plainly(trained[norm], drawn)
        np.testing.assert_allclose(cell["variance"], plain["before"].var(axis=0, ddof=1), rtol=1e-3)
        factor = (cell["bound"] / cell["item_variance"]).to_numpy()
        np.testing.assert_allclose(factor, length * (plain["weights"].max(axis=1) ** 2).mean(), rtol=1e-3)
        assert (cell["n"] == 15).all()
        np.testing.assert_allclose(cell["predicted"], expected_of(trained[norm]).constant / length, rtol=1e-3)
        np.testing.assert_allclose(cell["variance_se"], variance(plain["before"])[1], rtol=1e-2)


def test_where_a_rare_item_takes_all_attention_the_bound_fails_and_is_said_to():
    """O_0 is 10 where class 0 is in the sequence, and else 0; then max A is one by how many there are, or 1/4."""
    cells = measured([4, 400], 2000, make_dependent(15)).query("feature == 0")
    q = 1 - 0.9**4
    short, long = cells.iloc[0], cells.iloc[1]
    assert short["item_variance"] == pytest.approx(9, rel=1e-3)
    assert short["variance"] == pytest.approx(100 * q * (1 - q), rel=0.1)
    assert short["bound"] < short["variance"] - 1.96 * short["variance_se"]
    assert long["bound"] > long["variance"]
    numbers = summary(cells, exponents(cells, 4), "ln")["argmax"]["none"]
    assert numbers["above_bound"] == numbers["clearly_above_bound"] == 0.5
