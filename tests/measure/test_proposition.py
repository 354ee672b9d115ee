"""Proposition 1: what it reasons with, by its definitions, and the variances that are measured beside it."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from small import SHARP, make_trained, models_of, plainly

from vanishing_variance.attentions import power
from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.proposition import measurement
from vanishing_variance.measure.proposition.expectation import expected
from vanishing_variance.measure.proposition.measurement import measure
from vanishing_variance.measure.proposition.summary import exponents, summary
from vanishing_variance.statistics.moments import variance
from vanishing_variance.statistics.power_law import power_law
from vanishing_variance.tasks import argmax, dictionary

LENGTHS = np.array([1, 10, 20, 40, 80])
# Feature 0 has a variance of 6/N, feature 1 of 4 N^-0.5, but for the first length.
NOISE = np.array([0.5, 1.01, 0.99, 1.0, 1.0])
VARIANCES = [6 / LENGTHS * NOISE, 4 * LENGTHS**-0.5 * NOISE]


def expected_of(trained, length=1):
    models = models_of(trained, 0)
    return expected(models, trained.variant.task.enumerate_iid, length)


def every_item(task_name):
    """Return one sequence of all items, each once; of argmax with 1,000 priorities."""
    if task_name == "dictionary":
        value, key = np.divmod(np.arange(256 * 8), 256)
        return {"key": key[None], "value": value[None], "query": np.array([dictionary.IID_QUERY])}
    classes, middle = np.divmod(np.arange(10 * 1000), 1000)
    priority = (middle + 0.5) / 1000
    return {"priority": priority[None], "class": classes[None], "query": np.array([argmax.IID_QUERY])}


@pytest.mark.parametrize(
    ("task_name", "in_part", "attention", "heads"),
    [("argmax", 1, "softmax", 2), ("dictionary", 1000, "softmax", 1), ("dictionary", 2**16, "power", 4)],
)
def test_expectations_are_those_over_all_items(task_name, in_part, attention, heads, monkeypatch):
    """By their definitions: sigma_d^2, and the delta method's constant, which the paper's bound exceeds."""
    monkeypatch.setattr(dictionary, "ITEMS_IN_PART", in_part)
    trained = make_trained(task_name, "none", SHARP[task_name], attention, heads=heads)
    everything = every_item(task_name)
    plain = plainly(trained, everything)
    values, by_head = plain["values"][0, 0], plain["by_head"][0, :, 0]
    weight = by_head.shape[1] * by_head.T.repeat(values.shape[1] // heads, axis=1)
    mean = (weight * values).mean(axis=0)
    constant = (weight * (values - mean)).var(axis=0)
    item_variance = values.var(axis=0)
    # a map that learns from the number of items is told how many these are
    theory = expected_of(trained, len(values))
    assert_allclose(theory.item_variance, item_variance, rtol=1e-3)
    assert_allclose(theory.constant, constant, rtol=1e-3)
    assert (constant < weight.max() ** 2 * item_variance).all()
    assert not np.allclose(constant, item_variance, rtol=0.1)


@pytest.mark.parametrize(
    ("norm", "attention", "heads", "at_once"), [("none", "softmax", 1, 2**18), ("ln", "power", 2, 200)]
)
def test_it_measures_what_the_plain_module_computes(task_name, norm, attention, heads, at_once, monkeypatch):
    """O before every normaliser, of the same sequences: drawn so many items at a time, or one by one."""
    monkeypatch.setattr(measurement, "ITEMS_AT_ONCE", at_once)
    trained = make_trained(task_name, norm, SHARP[task_name], attention, heads=heads)
    cells = measure(*trained, [16, 300], 15, 0)
    for length, cell in cells.groupby("length"):
        rng = stream(0, "proposition", task_name, length)
        together = max(1, at_once // length)
        batches = [trained.variant.task.sample_iid(rng, together, length) for _ in range(0, 15, together)]
        drawn = {name: np.concatenate([batch[name] for batch in batches])[:15] for name in batches[0]}
        plain = plainly(trained, drawn)
        outputs, by_head = plain["before"][0], plain["by_head"][0].max(axis=2).T
        largest = by_head.repeat(outputs.shape[1] // heads, axis=1)
        assert_allclose(cell["variance"], outputs.var(axis=0, ddof=1), rtol=1e-3)
        assert_allclose(cell["variance_se"], variance(outputs)[1], rtol=1e-2)
        assert_allclose(cell["bound"] / cell["item_variance"], length * (largest**2).mean(axis=0), rtol=1e-3)
        assert_allclose(cell["predicted"], expected_of(trained, length).constant / length, rtol=1e-3)
        assert set(cell["n"]) == {15}


def test_a_map_may_rescale_the_logits_of_each_head_otherwise(monkeypatch):
    monkeypatch.setattr(power, "LEARNABLE", {})
    monkeypatch.setattr(power, "scale", lambda items, parameters: items ** parameters["exponent"])
    monkeypatch.setattr(power, "OF_HEADS", {"exponent": 0.1}, raising=False)
    trained = make_trained("argmax", "none", SHARP["argmax"], "power", heads=2)
    for length, cell in measure(*trained, [16, 64], 15, 0).groupby("length"):
        assert_allclose(cell["predicted"], expected_of(trained, length).constant / length, rtol=1e-3)


def cells(norm="none"):
    parts = []
    for feature, variances in enumerate(VARIANCES):
        columns = {"length": LENGTHS, "n": 50, "variance": variances, "predicted": 3 / LENGTHS}
        parts.append(pd.DataFrame({"task": "argmax", "line": norm, "feature": feature, **columns}))
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(variance_se=frame["variance"] / 10, bound=1.2)


def test_exponents_are_fitted_to_the_tail_and_constants_are_those_at_the_longest_length():
    laws = exponents(cells(), 10)
    law = power_law(LENGTHS[1:], VARIANCES[0][1:])
    assert laws.loc[0, ["exponent", "low", "high"]].tolist() == [law.exponent, law.low, law.high]
    assert laws["exponent"].tolist() == pytest.approx([-1, -0.5], abs=0.02)
    assert laws["predicted"].tolist() == pytest.approx([3, 3])
    assert laws["measured"].tolist() == pytest.approx([6, 4 * 80**0.5])


def test_the_metrics_are_by_role():
    frame = pd.concat([cells("none"), cells("rms")])
    document = summary(frame, exponents(frame, 10), "rms")["argmax"]
    assert list(document) == ["none", "norm"]
    numbers = document["norm"]
    assert numbers["variance_exponent"] == pytest.approx(-0.75, abs=0.01)
    assert numbers["interval_holds_minus_1"] == 0.5
    ratio = (2 + 4 * 80**0.5 / 3) / 2
    assert numbers["measured_over_predicted"] == pytest.approx(ratio, abs=1e-4)
    # of ten variances 3, 2 and 1.28 are above the bound of 1.2, the last of them by less than its interval
    assert (numbers["above_bound"], numbers["clearly_above_bound"]) == (0.3, 0.2)
