import numpy as np
import pandas as pd
import pytest
from made_up_board import accuracies
from small import make_trained

from vanishing_variance.core.seeding import stream
from vanishing_variance.leaderboard.ceiling import COLUMNS, ceiling, class_offsets, markdown, predicted

EXPONENTIALS = stream(0, "x").exponential(size=(10_000, 10))


def test_offsets_are_those_that_a_network_was_given():
    """With features going straight into W_K, the logit is q (slope p + a number of the class), whatever q is."""
    trained, given = make_trained(projection="direct"), np.linspace(-1e-4, 2e-4, 10)
    query, key = trained.weights["attention.query"], trained.weights["attention.key"]
    for seed, times in ((0, 1), (1, -3)):
        key[seed, :, 0] = (seed + 1) * query[seed, :, 0]
        key[seed, :, 1:] = np.outer(key[seed, :, 0], given * times)
    centred = given - given.mean()
    found = class_offsets(trained.variant, trained.weights)
    np.testing.assert_allclose(found, [centred, -3 * centred], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize(
    ("attention", "projection"), [("softmax", "mlp"), ("entmax15", "qk_norm"), ("differential", "mlp")]
)
def test_every_map_and_projection_has_offsets(attention, projection):
    trained = make_trained(attention=attention, projection=projection)
    found = class_offsets(trained.variant, trained.weights)
    assert found.shape == (2, 10)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-9)


def test_the_prediction_is_the_accuracy_of_the_largest_shifted_priority():
    rng, offsets, items, drawn = np.random.default_rng(0), np.linspace(0, 0.004, 10)[None], 512, 4000
    priority, classes = rng.random((drawn, items)), rng.integers(10, size=(drawn, items))
    shifted = (priority + offsets[0][classes]).argmax(axis=1)
    rows = np.arange(drawn)
    measured = (classes[rows, shifted] == classes[rows, priority.argmax(axis=1)]).mean()
    assert 0.3 < measured < 0.8
    # both are means of yes and no: three standard errors; 1 / 51 of a class's items is left out by the limit
    assert predicted(offsets, items, EXPONENTIALS)[0] == pytest.approx(measured, abs=3 * 0.5 / drawn**0.5 + 0.02)
    # without offsets hard attention is always right
    assert predicted(np.zeros((1, 10)), 2**14, EXPONENTIALS).tolist() == [1.0]


def test_a_row_a_line_seed_and_length_beside_what_was_measured():
    accuracy = pd.concat([accuracies(line, (1, 1, 1, mean), "hard") for line, mean in (("a", 0.9), ("b", 0.5))])
    offsets = {"a": np.zeros((6, 10)), "b": np.tile(np.linspace(0, 1e-4, 10), (6, 1))}
    found = ceiling(offsets, accuracy, stream(0, "x"))
    assert set(found["length"]) == {16384}  # 2^11 was not tested
    assert (found.query("line == 'a'")["predicted"] == 1).all()
    measured = accuracy.query("line == 'b' and length == 16384").sort_values("seed")["accuracy"]
    assert found.query("line == 'b'")["hard"].tolist() == measured.tolist()
    rows = [line for line in markdown(found).splitlines() if line.startswith(("| a", "| b"))]
    assert rows[0].startswith("| a | 6 | 0.0e+00 | 100.0 | ")
    assert rows[1].startswith("| b | 6 | 3.2e-05 | ")
    alone = ceiling({"b": offsets["b"]}, accuracy, stream(0, "x"))
    pd.testing.assert_frame_equal(alone, found.query("line == 'b'").reset_index(drop=True))


def test_a_leaderboard_whose_every_line_diverged_has_an_empty_table():
    found = ceiling({}, accuracies("a", (1, 1, 1, 1), "hard").iloc[:0], stream(0, "x"))
    assert tuple(found.columns) == COLUMNS
    assert len(found) == 0
    assert "| a" not in markdown(found)
