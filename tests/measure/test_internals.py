import numpy as np
import pytest
from scipy import stats
from small import SHARP, make_trained, plainly, rows_of, single

from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.evaluation import internals
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.diagnostics import diagnose
from vanishing_variance.measure.inference.models import Models, joined
from vanishing_variance.measure.inference.temperature import UNCHANGED


@pytest.fixture
def found(task_name):
    """Two models with peaked attention, sequences, and what is seen in them."""
    trained = make_trained(task_name, "ln", SHARP[task_name])
    models = Models.of(trained.variant, trained.weights)
    sequences = trained.variant.task.sample(stream(0, "here"), 40, 30)
    parts = []
    for rows in (slice(0, 25), slice(25, 40)):
        batch = rows_of(sequences, rows)
        parts.append(internals.inside(batch, models.answer(batch, UNCHANGED)))
    return trained, sequences, joined(parts)


def test_attention_is_that_of_the_plain_module(found):
    trained, sequences, seen = found
    plain = plainly(trained, sequences)
    weights = plain["weights"]
    ordered = np.sort(weights, axis=-1)
    expected = {
        "target": weights[:, range(40), sequences["target"]],
        "largest": ordered[..., -1],
        "largest16": ordered[..., -16:].sum(axis=-1),
        "entropy": stats.entropy(weights, axis=-1),
        "before": plain["before"],
        "after": plain["after"],
    }
    assert expected["largest16"].min() < 0.99
    for name, values in expected.items():
        np.testing.assert_allclose(seen[name], values, rtol=1e-3, atol=1e-3 * values.std(), err_msg=name)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_row_a_model_holds_means_over_sequences(found, where):
    *_, seen = found
    reference = {name: array[:, :15] for name, array in seen.items()}
    first, row = internals.means_by_model("tested", 30, [7, 8], seen, reference)
    assert (first["seed"], row["seed"]) == (7, 8)
    assert row["target"] == pytest.approx(seen["target"][1].mean(), rel=1e-4)
    outputs = seen[where][1].astype(np.float64)
    means = outputs.mean(axis=1)
    assert row[f"mean_{where}"] == pytest.approx(means.mean())
    assert row[f"mean_se_{where}"] == pytest.approx(means.std(ddof=1) / 40**0.5)
    assert row[f"variance_{where}"] == pytest.approx(outputs.var(axis=1).mean())
    assert row[f"feature_variance_{where}"] == pytest.approx(outputs.var(axis=0, ddof=1).mean())
    assert row[f"shift_{where}"] == pytest.approx(internals.shift(outputs, outputs[:15]))


def test_the_shift_is_a_distance_in_standard_deviations():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(4000, 3)) * [1, 2, 3] + [5, 0, -5]
    moved = reference + 0.5 * reference.std(axis=0)
    assert internals.shift(reference, reference) == 0
    assert internals.shift(moved, reference) == pytest.approx(0.5)
    assert internals.shift(7 * reference + 3, 7 * moved + 3) == pytest.approx(0.5)
    # A normal distribution that has lost all its variance: E|z| = sqrt(2 / pi).
    gone = np.broadcast_to(reference.mean(axis=0), (100, 3))
    assert internals.shift(gone, reference) == pytest.approx((2 / np.pi) ** 0.5, rel=0.01)
    # A feature that never varied does not blow it up.
    constant = np.column_stack([reference, np.zeros(4000)])
    assert internals.shift(constant + 1e-6, constant) < 1e-5


@pytest.mark.parametrize("where", ["before", "after"])
def test_diagnostics_are_those_of_the_outputs_computed_plainly(task_name, where, monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.inference.sequences.ITEMS_DRAWN", 32 * 50)
    trained = make_trained(task_name, "ln", SHARP[task_name])
    settings = Diagnostics(sequences=50, heatmap_sequences=7)
    found = diagnose(trained.variant, single(trained, 0), [4, 32], settings, 0, lambda done: None)
    plain = plainly(trained, trained.variant.task.sample(stream(0, "diagnostics", task_name, 32), 50, 32))
    outputs = plain[where][0]
    off = 1e-3 * outputs.std()
    means, variances = outputs.mean(axis=1), outputs.var(axis=1)
    row = found["moments"].set_index(["length", "where"]).loc[(32, where)]
    assert row["mean"] == pytest.approx(means.mean(), abs=off)
    assert row["mean_se"] == pytest.approx(stats.sem(means), abs=off)
    assert row["variance"] == pytest.approx(variances.mean(), rel=1e-3)
    assert row["variance_se"] == pytest.approx(stats.sem(variances), rel=1e-2)

    features = found["features"].query("length == 32 and where == @where")
    assert features["feature"].tolist() == [0, 1, 2, 3, 4] * 50
    np.testing.assert_allclose(features["value"], outputs[:, :5].ravel(), rtol=0, atol=off)
    largest = -np.sort(-plain["weights"][0, :7])[:, :16]
    heat = found["attention"].query("length == 32")
    np.testing.assert_allclose(heat["weight"], largest.ravel(), rtol=0, atol=1e-4)
    assert found["attention"].query("length == 4")["rank"].max() == 4
