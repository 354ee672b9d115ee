from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from small import make_trained, single

from vanishing_variance.engine.ranges import Range
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.measure.interventions import measurement
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.measurement import Group, counted, intervene, partner
from vanishing_variance.measure.interventions.names import BASE, DAMAGING, RECOVERING
from vanishing_variance.measure.interventions.parts import take_apart
from vanishing_variance.measure.interventions.readings import EDGES
from vanishing_variance.tasks.argmax.task import Argmax

SETTINGS = Interventions(sequences=20, training_sequences=30)
LENGTHS = (1, 6, 50)


def read(task, length, size):
    """Yield the test sequences of a length, a part at a time, as from a file."""
    yield from of_length(task, np.random.default_rng(0), 40, length, size)


def make_group(trained, weights):
    return Group(
        range_name="short",
        trained=Range(shortest=2, longest=6),
        variants={norm: models.variant for norm, models in trained.items()},
        weights=weights,
        sequences={length: partial(read, trained["none"].variant.task, length) for length in LENGTHS},
    )


@pytest.mark.parametrize("heads", [1, 2])
def test_a_row_an_intervention_model_and_length_the_same_for_a_seed_alone(task_name, heads):
    trained = {norm: make_trained(task_name, norm, heads=heads) for norm in ("none", "ln")}
    group = make_group(trained, {norm: models.weights for norm, models in trained.items()})
    accuracy, counts = intervene([group], [4, 5], SETTINGS, 0)
    assert set(accuracy["length"]) == {0, *LENGTHS}
    assert set(accuracy["intervention"]) == {BASE, *RECOVERING, *DAMAGING}
    assert accuracy.groupby(["norm", "length"]).size().tolist() == [2, 46, 46, 46] * 2

    tested = counts[counts["sample"] == "tested"]
    assert tested["sequences"].sum() == 20 * 2 * 2 * len(LENGTHS)
    base = accuracy.query("intervention == @BASE and length > 0")["accuracy"]
    assert tested["right"].sum() == pytest.approx(20 * base.sum())

    second = make_group(trained, {norm: single(models, 1) for norm, models in trained.items()})
    alone, _ = intervene([second], [5], SETTINGS, 0)
    pd.testing.assert_frame_equal(alone, accuracy[accuracy["seed"] == 5].reset_index(drop=True))


def test_the_first_sequences_are_tested_and_others_calibrated_with(monkeypatch):
    """Two samples of the training lengths and two of each length, of which no two have a query in common."""
    samples = {}

    def recorded(models, batches):
        queries = np.concatenate([batch["query"] for batch in batches])
        samples[queries.tobytes()] = set(queries.tolist())
        return take_apart(models, batches)

    monkeypatch.setattr(measurement, "take_apart", recorded)
    trained = make_trained("argmax", "none")
    intervene([make_group({"none": trained}, {"none": trained.weights})], [4, 5], SETTINGS, 0)
    assert sorted(map(len, samples.values())) == [20] * 6 + [30] * 2
    assert len(set().union(*samples.values())) == 20 * 6 + 30 * 2
    for length in LENGTHS:
        [stored] = read(Argmax(classes=10), length, 40)
        assert set(stored["query"][:20].tolist()) in samples.values()


def test_none_has_the_weights_of_ln_or_the_treatment_and_the_others_those_of_none():
    assert partner("none", ["none", "std", "ln", "rms"]) == "ln"
    assert partner("none", ["none", "std", "rms"]) == "rms"
    assert partner("std", ["none", "std", "ln"]) == "none"


def test_right_answers_are_counted_by_the_targets_weight():
    weight = np.array([[0.0, 0.05, 0.06, 1.0], [0.5, 0.5, 0.5, 0.5]])
    right = np.array([[False, True, False, True], [True, True, True, False]])
    rows = counted({"norm": "none"}, [7, 8], torch.from_numpy(weight), torch.from_numpy(right))
    assert rows["seed"].tolist() == [7, 7, 7, 8]
    assert [EDGES[place] for place in rows["bin"]] == [0.0, 0.03, 0.99, 0.5]
    assert rows[["sequences", "right"]].to_numpy().tolist() == [[1, 0], [2, 1], [1, 1], [4, 3]]
