from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from small import SHARP, make_dependent, make_trained, plainly

from vanishing_variance.core import parallel
from vanishing_variance.core.seeding import stream
from vanishing_variance.proposition import measurement
from vanishing_variance.proposition.config import Proposition
from vanishing_variance.proposition.measurement import _pieces, measure
from vanishing_variance.proposition.summary import exponents, summary


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)


def measured(trained, lengths, sequences, root=0):
    return measure([trained], Proposition(lengths=lengths, sequences=sequences, tail=1), root)


def drawn_by(trained, sequences, length):
    task_name, task = trained.variant.task_name, trained.variant.task
    draw = partial(task.sample_iid, stream(0, "proposition", task_name, length))
    return list(_pieces(partial(draw, length=length), sequences, length))


def mean_value(trained, parts):
    return np.mean([plainly(trained, part)[1].mean((0, 1)) for part in parts], axis=0)


@pytest.mark.parametrize("at_once", [200, 2**18])
def test_it_measures_what_the_plain_module_computes(task_name, at_once, monkeypatch):
    monkeypatch.setattr(measurement, "ITEMS_AT_ONCE", at_once)
    trained = make_trained(task_name, sharpness=SHARP[task_name])
    cells = measured(trained, [16, 300], 7)
    assert list(cells["length"].unique()) == [16, 300]
    for length, cell in cells.groupby("length"):
        parts = [plainly(trained, piece) for piece in drawn_by(trained, 7, length)]
        logits, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        assert logits.shape == (7, length)
        weights = np.exp(logits - logits.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        outputs = (weights[:, :, None] * values).sum(1)
        squares = sum((outputs - outputs.mean(0)) ** 2)
        np.testing.assert_allclose(cell["variance"], squares / 6, rtol=1e-3)
        factor = (cell["bound"] / cell["item_variance"]).to_numpy()
        np.testing.assert_allclose(factor, length * (weights.max(1) ** 2).mean(), rtol=1e-3)
        assert (cell["n"] == 7).all()


def test_with_uniform_attention_it_is_one_nth_of_an_items_and_so_are_prediction_and_bound(task_name):
    cells = measured(make_trained(task_name, sharpness=0), [4, 16, 64], 6000)
    one_nth = cells["item_variance"] / cells["length"]
    np.testing.assert_allclose(cells["predicted"], one_nth, rtol=1e-5)
    np.testing.assert_allclose(cells["bound"], one_nth, rtol=1e-5)
    assert ((cells["variance"] - one_nth).abs() < 5 * cells["variance_se"]).all()
    np.testing.assert_allclose(cells["variance_se"] / one_nth, (2 / 6000) ** 0.5, rtol=0.3)
    assert exponents(cells, 4)["exponent"].median() == pytest.approx(-1, abs=0.01)


def test_the_delta_method_is_right_for_long_sequences(task_name):
    cells = measured(make_trained(task_name, sharpness=SHARP[task_name]), [2048], 600)
    ratio = cells["variance"] / cells["predicted"]
    assert ratio.mean() == pytest.approx(1, abs=0.06)
    assert ratio.between(0.7, 1.4).all()
    assert (cells["predicted"] / (cells["item_variance"] / 2048)).max() > 2.5  # not so for uniform attention


def test_where_a_rare_item_takes_all_attention_the_bound_fails_and_is_said_to():
    """O_0 is 10 where class 0 is in the sequence, and else 0; then max A is one by how many there are, or 1/4."""
    cells = measured(make_dependent(15), [4, 2000], 4000).query("feature == 0")
    q = 1 - 0.9**4
    short, long = cells.iloc[0], cells.iloc[1]
    assert short["item_variance"] == pytest.approx(9, rel=1e-4)
    assert short["variance"] == pytest.approx(100 * q * (1 - q), rel=0.05)
    assert short["bound"] < short["variance"] - 1.96 * short["variance_se"]
    assert long["bound"] > long["variance"]
    numbers = summary(cells, exponents(cells, 4), "ln")["argmax"]["none"]
    assert numbers["above_bound"] == numbers["clearly_above_bound"] == 0.5


def test_centring_v_changes_nothing(task_name):
    trained = make_trained(task_name, sharpness=SHARP[task_name])
    parts = list(trained.variant.task.enumerate_iid())
    mean = mean_value(trained, parts)
    shift = np.linalg.solve(trained.weights["attention.value"][0].astype(np.float64), mean)
    bias = trained.weights["item.2.bias"].copy()
    bias[0] -= shift.astype(np.float32)
    centred = replace(trained, weights={**trained.weights, "item.2.bias": bias})
    assert np.abs(mean_value(centred, parts)).max() < 1e-3 * np.abs(mean).max()
    before, after = (measured(one, [8, 64], 50) for one in (trained, centred))
    numbers = ["variance", "variance_se", "predicted", "bound", "item_variance"]
    np.testing.assert_allclose(after[numbers], before[numbers], rtol=5e-3)


def test_both_normalisers_see_the_same_sequences_and_o_is_before_them(task_name):
    trained = [make_trained(task_name, norm, 50) for norm in ("none", "ln")]
    cells = measure(trained, Proposition(lengths=[4, 8], sequences=9, tail=1), 0)
    assert cells["task"].unique().tolist() == [task_name]
    none, ln = (cells[cells["norm"] == norm].drop(columns="norm").reset_index(drop=True) for norm in ("none", "ln"))
    pd.testing.assert_frame_equal(none, ln)


def test_it_is_the_same_each_time_and_another_with_another_root_or_model():
    trained = make_trained("argmax")
    first, again, other = (measured(trained, [4, 8], 9, root) for root in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert (first["variance"] != other["variance"]).all()
    second = replace(trained, weights={name: array[::-1].copy() for name, array in trained.weights.items()})
    assert (measured(second, [4, 8], 9)["variance"] != first["variance"]).all()


def test_more_sequences_begin_as_fewer(task_name, monkeypatch):
    monkeypatch.setattr(measurement, "ITEMS_AT_ONCE", 40)
    trained = make_trained(task_name)
    few, many = (drawn_by(trained, sequences, 8) for sequences in (7, 12))
    assert [len(piece["query"]) for piece in many] == [5, 5, 2]
    for name in few[0]:
        joined = [np.concatenate([piece[name] for piece in pieces]) for pieces in (few, many)]
        np.testing.assert_array_equal(joined[0], joined[1][:7])
    assert [len(piece["query"]) for piece in drawn_by(trained, 3, 41)] == [1, 1, 1]
