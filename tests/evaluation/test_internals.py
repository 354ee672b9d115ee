import numpy as np
import pytest
import torch
from scipy import stats
from small import SHARP, make_trained, plainly

from vanishing_variance.core.ranges import Range
from vanishing_variance.core.seeding import stream
from vanishing_variance.evaluation import internals
from vanishing_variance.inference.models import Models, joined
from vanishing_variance.inference.temperature import UNCHANGED


@pytest.fixture
def found(task_name):
    """Two untrained models with peaked attention, sequences, and what is seen in them."""
    trained = make_trained(task_name, "ln", sharpness=3 * SHARP[task_name])
    models = Models.of(trained.variant, trained.weights)
    batch = trained.variant.task.sample(stream(0, "here"), 40, 12)
    parts = [{name: array[rows] for name, array in batch.items()} for rows in (slice(0, 25), slice(25, 40))]
    return trained, models, batch, joined(internals.inside(part, models.answer(part, UNCHANGED)) for part in parts)


def test_attention_is_that_of_the_plain_module(found):
    trained, _, batch, seen = found
    logits, values = plainly(trained, batch)
    weights = torch.softmax(torch.from_numpy(logits), dim=-1).numpy()
    target = np.take_along_axis(weights, batch["target"][:, None], axis=1)[:, 0]
    assert 0.2 < weights.max(axis=1).mean() < 0.99
    np.testing.assert_allclose(seen["target"][0], target, atol=2e-4)
    np.testing.assert_allclose(seen["largest"][0], weights.max(axis=1), atol=2e-4)
    np.testing.assert_allclose(seen["entropy"][0], stats.entropy(weights, axis=1), atol=1e-3)
    np.testing.assert_allclose(seen["before"][0], np.einsum("bn,bnd->bd", weights, values), atol=1e-4)
    assert np.abs(seen["after"][0].mean(axis=-1)).max() < 1e-4  # of ln, before it has learned a shift
    assert {name: array.shape for name, array in seen.items() if array.ndim == 2} == dict.fromkeys(
        internals.WEIGHTS, (2, 40)
    )


@pytest.mark.parametrize("length", [12, 16, 100])
def test_the_mass_of_the_16_largest_weights_is_what_the_others_lack(task_name, length):
    trained = make_trained(task_name, "none", sharpness=SHARP[task_name])
    models = Models.of(trained.variant, trained.weights)
    batch = trained.variant.task.sample(stream(0, "here"), 20, length)
    weights = torch.softmax(torch.from_numpy(plainly(trained, batch)[0]), dim=-1).numpy()
    others = np.sort(weights, axis=1)[:, : max(0, length - 16)].sum(axis=1)
    found = joined(internals.inside(part, models.answer(part, UNCHANGED)) for part in [batch])["largest16"][0]
    np.testing.assert_allclose(found, 1 - others, atol=1e-3)
    assert found.max() <= 1 + 1e-5
    assert (others.min() > 0.01) == (length == 100)


def test_a_row_a_model_holds_means_over_sequences(found):
    *_, seen = found
    reference = {name: array[:, :15] for name, array in seen.items()}
    rows = list(internals.means_by_model([7, 8], seen, reference))
    assert [row["seed"] for row in rows] == [7, 8]
    outputs, row = seen["before"][1].astype(np.float64), rows[1]
    assert row["target"] == pytest.approx(seen["target"][1].mean(), rel=1e-6)
    assert row["mean_before"] == pytest.approx(outputs.mean())
    assert row["mean_se_before"] == pytest.approx(outputs.mean(axis=1).std(ddof=1) / 40**0.5)
    assert row["variance_before"] == pytest.approx(outputs.var(axis=1).mean())
    assert row["feature_variance_before"] == pytest.approx(outputs.var(axis=0, ddof=1).mean())
    assert row["shift_before"] == internals.shift(outputs, reference["before"][1].astype(np.float64))
    assert row["variance_after"] == pytest.approx(1, rel=0.05)


def test_the_shift_is_a_distance_in_standard_deviations():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(4000, 3)) * [1, 2, 3] + [5, 0, -5]
    assert internals.shift(reference, reference) == 0
    moved = internals.shift(reference + 0.5 * reference.std(axis=0), reference)
    assert moved == pytest.approx(0.5)
    assert internals.shift(7 * reference + 3, 7 * reference + 3 + 3.5 * reference.std(axis=0)) == pytest.approx(0.5)
    # A normal distribution that has lost all its variance: E|z| = sqrt(2 / pi).
    gone = np.broadcast_to(reference.mean(axis=0), (100, 3))
    assert internals.shift(gone, reference) == pytest.approx((2 / np.pi) ** 0.5, rel=0.01)
    # A feature that never varied does not blow it up.
    constant = np.column_stack([reference, np.zeros(4000)])
    assert internals.shift(constant + 1e-6, constant) < 1e-5


def test_training_lengths_are_uniform_and_drawn_by_name(found, monkeypatch):
    _, models, *_ = found
    lengths = []
    sample = type(models.task).sample
    monkeypatch.setattr(
        type(models.task), "sample", lambda task, rng, n, length: lengths.append(length) or sample(task, rng, n, length)
    )
    monkeypatch.setattr("vanishing_variance.inference.models.ITEMS_IN_BATCH", {"cpu": 64})
    seen = internals.at_training_lengths(models, Range(shortest=3, longest=9), stream(0, "one"), 300)
    assert sorted(set(lengths)) == list(range(3, 10))
    assert seen["before"].shape == (2, 300, 32)
    again = internals.at_training_lengths(models, Range(shortest=3, longest=9), stream(0, "one"), 300)
    other = internals.at_training_lengths(models, Range(shortest=3, longest=9), stream(0, "another"), 300)
    assert (seen["target"] == again["target"]).all()
    assert (seen["target"] != other["target"]).any()
    # Uniform on 3 ... 9: a target weight of 1/N where attention is flat.
    flat = Models.of(make_trained("argmax").variant, make_trained("argmax").weights)
    weights = internals.at_training_lengths(flat, Range(shortest=3, longest=9), stream(0, "one"), 4000)["target"]
    assert weights.mean() == pytest.approx(np.mean(1 / np.arange(3, 10)), rel=0.05)
