import itertools

import numpy as np
import pandas as pd
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.interventions.names import PLACES
from vanishing_variance.results.attribution import beside_accuracy, explained
from vanishing_variance.results.quantities import GROUPINGS, OF_TRAINING, QUANTITIES


def made_up(seeds=6, lengths=(16, 64, 256)):
    """Models whose accuracy is the attention on the target, and whose other quantities are noise."""
    rng = np.random.default_rng(0)
    models = itertools.product(["argmax"], ["short"], ("none", "ln"), range(seeds), (0, *lengths))
    inside = pd.DataFrame(models, columns=["task", "range", "norm", "seed", "length"])
    inside["sample"] = np.where(inside["length"] > 0, "tested", "trained")
    inside["target"] = rng.uniform(0.5, 0.6, len(inside)) + 0.05 * (inside["norm"] == "ln") - inside["length"] / 1000
    noise = ["largest", "entropy", *(f"{name}_{where}" for name in OF_TRAINING for where in PLACES)]
    inside[noise] = rng.uniform(1, 2, (len(inside), len(noise)))
    accuracy = inside[inside["length"] > 0].assign(temperature="plain", accuracy=lambda of: of["target"])
    accuracy = pd.concat([accuracy, accuracy.assign(temperature="adaptive", accuracy=0.5)])
    return inside, accuracy[["task", "range", "norm", "seed", "temperature", "length", "accuracy"]]


def test_every_model_and_length_stands_beside_its_accuracy_and_its_training_lengths():
    inside, accuracy = made_up()
    beside = beside_accuracy(inside, accuracy)
    assert len(beside) == 2 * 6 * 3
    one = beside.query("norm == 'ln' and seed == 3 and length == 64").iloc[0]
    row = inside.query("norm == 'ln' and seed == 3 and length == 64").iloc[0]
    trained = inside.query("norm == 'ln' and seed == 3 and length == 0").iloc[0]
    assert one["accuracy"] == row["target"]
    assert one["shift_after"] == pytest.approx(row["shift_after"], rel=1e-5)
    assert one["trained_variance_before"] == pytest.approx(trained["variance_before"], rel=1e-5)


@pytest.mark.parametrize(
    ("entropy", "explaining", "still"),
    [
        (lambda of: of["length"] / 1000, {"across lengths"}, {"between seeds", "between models"}),
        (lambda of: of["norm"] == "ln", {"between models"}, {"between seeds", "across lengths"}),
    ],
)
def test_groupings_take_off_what_they_say(entropy, explaining, still):
    """Of a quantity that is one number a length, or one a normaliser."""
    inside, accuracy = made_up()
    inside["entropy"] = 1.0 * entropy(inside)
    accuracy["accuracy"] = entropy(accuracy) + accuracy["seed"] * 1e-6
    table = explained(beside_accuracy(inside, accuracy), 0).set_index(["grouping", "quantity"])
    assert len(table) == len(GROUPINGS) * len(QUANTITIES)
    assert (table["n"] == 36).all()
    for grouping in explaining:
        assert table.loc[(grouping, "entropy"), "r2"] == pytest.approx(1, abs=0.01)
    for grouping in still:
        assert np.isnan(table.loc[(grouping, "entropy"), "r2"])
        assert "no variation within groups" in table.loc[(grouping, "entropy"), "note"]


def test_a_number_that_is_not_finite_is_one_clear_error():
    inside, accuracy = made_up()
    place = inside.query("norm == 'ln' and seed == 3 and length == 64").index[0]
    inside.loc[place, "shift_after"] = np.inf
    said = r"^runs/evaluated: shift_after is inf \(task argmax, range short, norm ln, seed 3, length 64\)"
    with pytest.raises(InputError, match=said):
        beside_accuracy(inside, accuracy)
