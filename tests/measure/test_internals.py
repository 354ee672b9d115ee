import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from small import SHARP, make_trained, models_of, plainly, rows_of, sample, single

from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.evaluation import internals
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.diagnostics import diagnose
from vanishing_variance.measure.inference.models import joined


@pytest.fixture
def found(task_name):
    """Two models with peaked attention, sequences, and what is seen in them."""
    trained = make_trained(task_name, "ln", SHARP[task_name])
    models = models_of(trained)
    sequences = sample(trained, 40, 30)
    parts = []
    for rows in (slice(0, 25), slice(25, 40)):
        batch = rows_of(sequences, rows)
        parts.append(internals.inside(batch, models.attended(batch)))
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
        assert_allclose(seen[name], values, rtol=1e-3, atol=1e-3 * values.std(), err_msg=name)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_row_a_model_holds_means_over_sequences(found, where):
    *_, seen = found
    _, row = internals.means_by_model("tested", 30, [7, 8], seen, seen)
    assert row["seed"] == 8
    assert row["target"] == pytest.approx(seen["target"][1].mean(), rel=1e-4)
    outputs = seen[where][1].astype(np.float64)
    expected = {
        "mean": outputs.mean(),
        "mean_se": stats.sem(outputs.mean(axis=1)),
        "variance": outputs.var(axis=1).mean(),
        "feature_variance": outputs.var(axis=0, ddof=1).mean(),
        "shift": 0,
    }
    assert {name: row[f"{name}_{where}"] for name in expected} == pytest.approx(expected)


def test_the_shift_is_a_distance_in_standard_deviations():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(4000, 3)) * [1, 2, 3] + [5, 0, -5]
    moved = reference + 0.5 * reference.std(axis=0)
    assert internals.shift(reference, reference) == 0
    assert internals.shift(moved, reference) == pytest.approx(0.5)
    # A normal distribution that has lost all its variance: E|z| = sqrt(2 / pi).
    gone = np.broadcast_to(reference.mean(axis=0), (100, 3))
    assert internals.shift(gone, reference) == pytest.approx((2 / np.pi) ** 0.5, rel=0.01)


@pytest.mark.parametrize("where", ["before", "after"])
def test_diagnostics_are_those_of_the_outputs_computed_plainly(task_name, where, monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.inference.sequences.ITEMS_DRAWN", 32 * 50)
    trained = make_trained(task_name, "ln", SHARP[task_name])
    settings = Diagnostics(sequences=50, heatmap_sequences=7)
    found = diagnose(trained.variant, single(trained, 0), [32], settings, 0, lambda done: None)
    plain = plainly(trained, trained.variant.task.sample(stream(0, "diagnostics", task_name, 32), 50, 32))
    outputs = plain[where][0]
    off = 1e-3 * outputs.std()
    moments = found["moments"].set_index("where").loc[where]
    assert moments["mean"] == pytest.approx(outputs.mean(), abs=off)
    assert moments["mean_se"] == pytest.approx(stats.sem(outputs.mean(axis=1)), abs=off)
    assert moments["variance"] == pytest.approx(outputs.var(axis=1).mean(), rel=1e-3)
    features = found["features"].query("where == @where")["value"]
    assert_allclose(features, outputs[:, :5].ravel(), rtol=0, atol=off)
    ordered = -np.sort(-plain["weights"][0, :7])
    assert_allclose(found["attention"]["weight"], ordered[:, :16].ravel(), rtol=0, atol=1e-4)
