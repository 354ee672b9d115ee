"""What Proposition 1 reasons with, by its definitions, and the variances that are measured beside it."""

import numpy as np
import pytest
from scipy import stats
from small import SHARP, make_dependent, make_trained, plainly, single

from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.proposition import measurement
from vanishing_variance.measure.proposition.config import Proposition
from vanishing_variance.measure.proposition.expectation import expected
from vanishing_variance.measure.proposition.measurement import measure
from vanishing_variance.measure.proposition.summary import exponents, summary
from vanishing_variance.statistics.moments import variance
from vanishing_variance.tasks.argmax import task as argmax
from vanishing_variance.tasks.dictionary import task as dictionary


def measured(trained, lengths, sequences):
    return measure([trained], Proposition(lengths=lengths, sequences=sequences, tail=1), 0)


def expected_of(trained):
    models = Models.of(trained.variant, single(trained, 0))
    return expected(models, trained.variant.task.enumerate_iid)


def every_item(task_name):
    """Return one sequence of all items, each once; of argmax with 1,000 priorities."""
    if task_name == "dictionary":
        value, key = np.divmod(np.arange(256 * 8), 256)
        return {"key": key[None], "value": value[None], "query": np.array([dictionary.IID_QUERY])}
    classes, middle = np.divmod(np.arange(10 * 1000), 1000)
    priority = (middle + 0.5) / 1000
    return {"priority": priority[None], "class": classes[None], "query": np.array([argmax.IID_QUERY])}


@pytest.mark.parametrize(("task_name", "in_part"), [("argmax", 1), ("dictionary", 1000), ("dictionary", 2**16)])
def test_expectations_are_those_over_all_items(task_name, in_part, monkeypatch):
    """By their definitions: sigma_d^2, and the delta method's constant, which the paper's bound exceeds."""
    monkeypatch.setattr(dictionary, "ITEMS_IN_PART", in_part)
    trained = make_trained(task_name, sharpness=SHARP[task_name])
    plain = plainly(trained, every_item(task_name))
    values, weights = plain["values"][0, 0], plain["weights"][0, 0]
    weight = len(weights) * weights[:, None]
    mean = (weight * values).mean(axis=0)
    constant = (weight * (values - mean)).var(axis=0)
    item_variance = values.var(axis=0)
    theory = expected_of(trained)
    np.testing.assert_allclose(theory.item_variance, item_variance, rtol=1e-3)
    np.testing.assert_allclose(theory.constant, constant, rtol=1e-3)
    assert (constant < weight.max() ** 2 * item_variance).all()
    assert not np.allclose(constant, item_variance, rtol=0.1)


@pytest.mark.parametrize("logit", [15, 1000])
def test_where_one_class_takes_all_attention_only_its_items_count(logit):
    """So each tenth item does, and the variance of an item is divided by N / 10; e^1000 overflows."""
    theory = expected_of(make_dependent(logit))
    priority = (np.arange(10**5) + 0.5) / 10**5
    of_others = (priority * stats.norm.cdf(priority)).var()
    assert theory.item_variance[:3] == pytest.approx([9, of_others, 0], rel=1e-4)
    assert theory.constant[:3] == pytest.approx([0, 10 * of_others, 0], rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("norm", ["none", "ln"])
@pytest.mark.parametrize("at_once", [200, 2**18])
def test_it_measures_what_the_plain_module_computes(task_name, norm, at_once, monkeypatch):
    """O before every normaliser, of the same sequences: drawn so many items at a time, or one by one."""
    monkeypatch.setattr(measurement, "ITEMS_AT_ONCE", at_once)
    trained = make_trained(task_name, norm, SHARP[task_name])
    cells = measured(trained, [16, 300], 15)
    for length, cell in cells.groupby("length"):
        rng = stream(0, "proposition", task_name, length)
        together = max(1, at_once // length)
        batches = [trained.variant.task.sample_iid(rng, together, length) for _ in range(0, 15, together)]
        drawn = {name: np.concatenate([batch[name] for batch in batches])[:15] for name in batches[0]}
        plain = plainly(trained, drawn)
        outputs, largest = plain["before"][0], plain["weights"][0].max(axis=1)
        np.testing.assert_allclose(cell["variance"], outputs.var(axis=0, ddof=1), rtol=1e-3)
        np.testing.assert_allclose(cell["variance_se"], variance(outputs)[1], rtol=1e-2)
        np.testing.assert_allclose(cell["bound"] / cell["item_variance"], length * (largest**2).mean(), rtol=1e-3)
        np.testing.assert_allclose(cell["predicted"], expected_of(trained).constant / length, rtol=1e-3)
        assert set(cell["n"]) == {15}


def test_where_a_rare_item_takes_all_attention_the_bound_fails_and_is_said_to():
    """O_0 is 10 where class 0 is in the sequence, and else 0; then max A is one by how many there are, or 1/4."""
    cells = measured(make_dependent(15), [4, 400], 2000).query("feature == 0")
    q = 1 - 0.9**4
    short, long = cells.iloc[0], cells.iloc[1]
    assert short["item_variance"] == pytest.approx(9, rel=1e-3)
    assert short["variance"] == pytest.approx(100 * q * (1 - q), rel=0.1)
    assert short["bound"] < short["variance"] - 1.96 * short["variance_se"]
    assert long["bound"] > long["variance"]
    numbers = summary(cells, exponents(cells, 4), "ln")["argmax"]["none"]
    assert numbers["above_bound"] == numbers["clearly_above_bound"] == 0.5
