from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from small import SHARP, Trained, make_trained, single

from vanishing_variance.engine.ranges import Range
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.measure.interventions import measurement
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.measurement import Block, intervene
from vanishing_variance.measure.interventions.names import BASE, DAMAGING, OTHER, RECOVERING, WITHOUT_TARGET
from vanishing_variance.measure.interventions.parts import take_apart
from vanishing_variance.tasks.argmax import Argmax

SETTINGS = Interventions(sequences=20, training_sequences=30)
LENGTHS = (1, 6, 50)


def read(task, length, size):
    """Yield the test sequences of a length, a part at a time, as from a file."""
    yield from of_length(task, np.random.default_rng(0), 40, length, size)


def make_block(ours, partner):
    return Block(
        range_name="short",
        trained=Range(shortest=2, longest=6),
        variant=ours.variant,
        weights=ours.weights,
        partner=partner.variant,
        partner_weights=partner.weights,
        sequences={length: partial(read, ours.variant.task, length) for length in LENGTHS},
    )


@pytest.mark.parametrize("heads", [1, 2])
def test_a_row_an_intervention_model_and_length_the_same_for_a_seed_alone(task_name, heads):
    none, ln = (make_trained(task_name, norm, heads=heads) for norm in ("none", "ln"))
    accuracy = intervene(make_block(ln, none), [4, 5], SETTINGS, 0)
    assert set(accuracy["norm"]) == {"ln"}
    assert set(accuracy["length"]) == {0, *LENGTHS}
    assert set(accuracy["intervention"]) == {BASE, *RECOVERING, *DAMAGING}
    assert accuracy.groupby("length").size().tolist() == [2, 46, 46, 46]

    second = [Trained(models.variant, single(models, 1)) for models in (ln, none)]
    alone = intervene(make_block(*second), [5], SETTINGS, 0)
    pd.testing.assert_frame_equal(alone, accuracy[accuracy["seed"] == 5].reset_index(drop=True))


def test_the_partner_gives_its_target_weights_and_nothing_else():
    none, ln = make_trained("argmax", "none"), make_trained("argmax", "ln", SHARP["argmax"])
    places = ["seed", "length", "intervention", "where"]
    with_own, with_other = (
        intervene(make_block(none, partner), [4, 5], SETTINGS, 0).set_index(places)["accuracy"]
        for partner in (none, ln)
    )
    differ = with_own[with_own != with_other].index.get_level_values("intervention")
    assert set(differ) == {OTHER}
    base, other = (with_own.xs(name, level="intervention").droplevel("where") for name in (BASE, OTHER))
    assert (other == base[other.index]).all()  # the weights that they have anyway


def test_the_first_sequences_are_tested_and_others_calibrated_with(monkeypatch):
    """Two samples of the training lengths and two of each length, of which no two have a query in common."""
    samples = {}

    def recorded(models, batches):
        queries = np.concatenate([batch["query"] for batch in batches])
        samples[queries.tobytes()] = set(queries.tolist())
        return take_apart(models, batches)

    monkeypatch.setattr(measurement, "take_apart", recorded)
    trained = make_trained("argmax", "none")
    intervene(make_block(trained, trained), [4, 5], SETTINGS, 0)
    assert sorted(map(len, samples.values())) == [20] * 6 + [30] * 2
    assert len(set().union(*samples.values())) == 20 * 6 + 30 * 2
    for length in LENGTHS:
        [stored] = read(Argmax(classes=10), length, 40)
        assert set(stored["query"][:20].tolist()) in samples.values()


class WithoutTarget(Argmax):
    """As argmax, but nobody says which item has the answer."""

    def sample(self, rng, sequences, length):
        drawn = super().sample(rng, sequences, length)
        return {name: drawn[name] for name in ("priority", "class", "query")}

    def label(self, batch):
        return super().label(batch | {"target": batch["priority"].argmax(axis=1)})


def test_without_a_target_what_is_not_about_it_is_the_same_and_nothing_else_is_measured():
    none, ln = (make_trained("argmax", norm) for norm in ("none", "ln"))
    without = [one._replace(variant=replace(one.variant, task=WithoutTarget(classes=10))) for one in (ln, none)]
    expected, found = (intervene(make_block(*pair), [4, 5], SETTINGS, 0) for pair in ((ln, none), without))
    of_both = expected["intervention"].isin(WITHOUT_TARGET)
    assert set(found["intervention"]) == set(WITHOUT_TARGET)
    pd.testing.assert_frame_equal(found, expected[of_both].reset_index(drop=True))
