import numpy as np
import pytest
from scipy import stats
from small import SHARP, WIDTH, make_trained, plainly, single

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.evaluation import internals
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.diagnostics import diagnose
from vanishing_variance.measure.inference.models import Models, joined
from vanishing_variance.measure.inference.temperature import UNCHANGED

SHORT = Range(shortest=3, longest=9)


@pytest.fixture
def found(task_name):
    """Two models with peaked attention, sequences, and what is seen in them."""
    trained = make_trained(task_name, "ln", SHARP[task_name])
    models = Models.of(trained.variant, trained.weights)
    batch = trained.variant.task.sample(stream(0, "here"), 40, 30)
    parts = [{name: array[rows] for name, array in batch.items()} for rows in (slice(0, 25), slice(25, 40))]
    return trained, batch, joined(internals.inside(part, models.answer(part, UNCHANGED)) for part in parts)


def test_attention_is_that_of_the_plain_module(found):
    trained, batch, seen = found
    assert {seen[name].shape for name in internals.WEIGHTS} == {(2, 40)}
    for place in (0, 1):
        plain = plainly(trained, batch, place)
        weights = plain["weights"]
        expected = {
            "target": np.take_along_axis(weights, batch["target"][:, None], axis=1)[:, 0],
            "largest": weights.max(axis=1),
            "largest16": np.sort(weights, axis=1)[:, -16:].sum(axis=1),
            "entropy": stats.entropy(weights, axis=1),
            "before": plain["before"],
            "after": plain["after"],
        }
        assert expected["largest16"].min() < 0.99
        for name, of in expected.items():
            np.testing.assert_allclose(seen[name][place], of, rtol=1e-3, atol=1e-3 * of.std(), err_msg=name)


def test_a_row_a_model_holds_means_over_sequences(found):
    *_, seen = found
    reference = {name: array[:, :15] for name, array in seen.items()}
    rows = list(internals.means_by_model([7, 8], seen, reference))
    assert [row["seed"] for row in rows] == [7, 8]
    row = rows[1]
    assert row["target"] == pytest.approx(seen["target"][1].mean(), rel=1e-4)
    for where in ("before", "after"):
        outputs, of_training = (of[where][1].astype(np.float64) for of in (seen, reference))
        assert row[f"mean_{where}"] == pytest.approx(outputs.mean())
        assert row[f"mean_se_{where}"] == pytest.approx(outputs.mean(axis=1).std(ddof=1) / 40**0.5)
        assert row[f"variance_{where}"] == pytest.approx(outputs.var(axis=1).mean())
        assert row[f"feature_variance_{where}"] == pytest.approx(outputs.var(axis=0, ddof=1).mean())
        assert row[f"shift_{where}"] == internals.shift(outputs, of_training)


def test_the_shift_is_a_distance_in_standard_deviations():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(4000, 3)) * [1, 2, 3] + [5, 0, -5]
    assert internals.shift(reference, reference) == 0
    moved = reference + 0.5 * reference.std(axis=0)
    assert internals.shift(moved, reference) == pytest.approx(0.5)
    assert internals.shift(7 * reference + 3, 7 * moved + 3) == pytest.approx(0.5)
    # A normal distribution that has lost all its variance: E|z| = sqrt(2 / pi).
    gone = np.broadcast_to(reference.mean(axis=0), (100, 3))
    assert internals.shift(gone, reference) == pytest.approx((2 / np.pi) ** 0.5, rel=0.01)
    # A feature that never varied does not blow it up.
    constant = np.column_stack([reference, np.zeros(4000)])
    assert internals.shift(constant + 1e-6, constant) < 1e-5


def test_training_lengths_are_uniform_and_drawn_by_name(monkeypatch):
    """With uniform attention the target's weight is one over the length."""
    monkeypatch.setattr("vanishing_variance.measure.inference.models.ITEMS_IN_BATCH", {"cpu": 256})
    trained = make_trained(sharpness=0)
    models = Models.of(trained.variant, trained.weights)
    seen, again, other = (
        internals.at_training_lengths(models, SHORT, stream(0, name), 300) for name in ("one", "one", "another")
    )
    assert seen["before"].shape == (2, 300, WIDTH)
    lengths, counts = np.unique(1 / seen["target"][0].round(4), return_counts=True)
    np.testing.assert_allclose(lengths, np.arange(3, 10), atol=0.01)
    assert stats.chisquare(counts).pvalue > 0.001
    np.testing.assert_array_equal(seen["before"], again["before"])
    assert (seen["target"] != other["target"]).any()


def test_diagnostics_are_those_of_the_outputs_computed_plainly(task_name, monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.inference.sequences.ITEMS_DRAWN", 32 * 50)
    trained, how = make_trained(task_name, "ln", SHARP[task_name]), Diagnostics(sequences=50, heatmap_sequences=7)
    found = diagnose(Models.of(trained.variant, single(trained, 0)), task_name, [4, 32], how, 0)
    drawn = trained.variant.task.sample(stream(0, "diagnostics", task_name, 32), 50, 32)
    plain = plainly(trained, drawn)
    moments = found["moments"].set_index(["length", "where"])
    for where in ("before", "after"):
        values, row = plain[where], moments.loc[(32, where)]
        off = 1e-3 * values.std()
        assert row["mean"] == pytest.approx(values.mean(), abs=off)
        assert row["mean_se"] == pytest.approx(stats.sem(values.mean(axis=1)), abs=off)
        assert row["variance"] == pytest.approx(values.var(axis=1).mean(), rel=1e-3)
        assert row["variance_se"] == pytest.approx(stats.sem(values.var(axis=1)), rel=1e-2)
        shown = found["features"].query("length == 32 and where == @where")
        np.testing.assert_allclose(shown["value"].to_numpy().reshape(50, 5), values[:, :5], rtol=0, atol=off)
        assert shown["feature"].tolist() == [0, 1, 2, 3, 4] * 50
    heat = found["attention"].query("length == 32").pivot(index="sequence", columns="rank", values="weight")
    expected = -np.sort(-plain["weights"][:7], axis=1)[:, :16]
    np.testing.assert_allclose(heat.to_numpy(), expected, rtol=0, atol=1e-4)
    assert found["attention"].query("length == 4")["rank"].max() == 4
