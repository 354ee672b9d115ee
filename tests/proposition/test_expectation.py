import numpy as np
import pytest
from scipy import stats
from small import SHARP, make_dependent, make_trained, plainly

from vanishing_variance.core.seeding import stream
from vanishing_variance.inference.models import Models
from vanishing_variance.proposition.expectation import expected
from vanishing_variance.tasks.dictionary import task as dictionary


def expected_of(trained):
    models = Models.of(trained.variant, {name: array[:1] for name, array in trained.weights.items()})
    return expected(models, trained.variant.task.enumerate_iid)


def directly(logits, values):
    """The definitions, of items (M,) and (M, D): sigma_d^2, the delta method's constant, and its upper limit."""
    weight = np.exp(logits - logits.max())[:, None]
    mu = (weight * values).mean(0) / weight.mean()
    constant = (weight * (values - mu)).var(0) / weight.mean() ** 2
    return values.var(0), constant, values.var(0) / weight.mean() ** 2


def all_items():
    """The dictionary's 256 keys beside its 8 values, by numpy, in an order of its own."""
    value, key = np.divmod(np.arange(256 * 8), 256)
    return {"key": key[None], "value": value[None], "query": np.full(1, dictionary.IID_QUERY)}


@pytest.mark.parametrize("in_part", [1000, 2**16])
@pytest.mark.parametrize("sharpness", [1, SHARP["dictionary"]])
def test_expectations_over_the_dictionary_are_exact(sharpness, in_part, monkeypatch):
    monkeypatch.setattr(dictionary, "ITEMS_IN_PART", in_part)
    trained = make_trained("dictionary", sharpness=sharpness)
    theory = expected_of(trained)
    logits, values = plainly(trained, all_items())
    item_variance, constant, limit = directly(logits[0], values[0])
    np.testing.assert_allclose(theory.item_variance, item_variance, rtol=1e-5)
    np.testing.assert_allclose(theory.constant, constant, rtol=2e-3)
    assert (theory.constant <= limit * (1 + 1e-4)).all()
    assert np.median(theory.constant / theory.item_variance) > 5 or sharpness == 1


def test_expectations_over_argmax_are_those_over_random_items():
    trained = make_trained("argmax", sharpness=SHARP["argmax"])
    theory = expected_of(trained)
    drawn = trained.variant.task.sample_iid(stream(0, "items"), 1, 400_000)
    item_variance, constant, limit = directly(*(array[0] for array in plainly(trained, drawn)))
    np.testing.assert_allclose(theory.item_variance, item_variance, rtol=0.01)
    np.testing.assert_allclose(theory.constant, constant, rtol=0.02)
    assert (theory.constant <= limit).all()
    assert np.ptp(theory.constant / theory.item_variance) > 1


@pytest.mark.parametrize("logit", [15, 1000])
def test_where_one_class_takes_all_attention_only_its_items_count(logit):
    """So each tenth item does, and the variance of an item is divided by N / 10; e^1000 overflows."""
    theory = expected_of(make_dependent(logit))
    priority = (np.arange(10**5) + 0.5) / 10**5
    variance = (priority * stats.norm.cdf(priority)).var()
    assert theory.item_variance[:3] == pytest.approx([9, variance, 0], rel=1e-5)
    assert theory.constant[:3] == pytest.approx([0, 10 * variance, 0], rel=1e-4, abs=1e-8)


def test_with_uniform_attention_the_constant_is_the_variance_of_an_item(task_name):
    theory = expected_of(make_trained(task_name, sharpness=0))
    np.testing.assert_allclose(theory.constant, theory.item_variance, rtol=1e-9)
    assert theory.item_variance.shape == (32,)
    assert (theory.item_variance > 0).all()
