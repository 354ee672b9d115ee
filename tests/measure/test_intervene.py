from functools import partial

import numpy as np
import pandas as pd
import pytest
from small import make_trained

from vanishing_variance.engine.ranges import Range
from vanishing_variance.harness import parallel
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.measurement import Group, intervene, partner
from vanishing_variance.measure.interventions.names import BASE, DAMAGING, RECOVERING
from vanishing_variance.measure.interventions.parts import Parts
from vanishing_variance.measure.interventions.readings import EDGES, counted, read_out
from vanishing_variance.tasks.argmax.task import Argmax

HOW = Interventions(sequences=20, training_sequences=30)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)


def read(task, sequences, length, size):
    """The test sequences of a length, a part at a time, as from a file."""
    yield from of_length(task, np.random.default_rng(0), sequences, length, size)


def group(task_name, norms=("none", "ln"), part=slice(None)):
    trained = {norm: make_trained(task_name, norm) for norm in norms}
    task = trained["none"].variant.task
    return Group(
        "short",
        Range(shortest=2, longest=6),
        {norm: of.variant for norm, of in trained.items()},
        {norm: {name: array[part] for name, array in of.weights.items()} for norm, of in trained.items()},
        {length: partial(read, task, 40, length) for length in (1, 6, 50)},
    )


def test_a_row_an_intervention_model_and_length_the_same_for_a_seed_alone(task_name):
    accuracy, counts = intervene([group(task_name)], [4, 5], HOW, 0)
    assert list(accuracy.columns) == ["task", "range", "norm", "seed", "length", "intervention", "where", "accuracy"]
    assert set(accuracy["length"]) == {0, 1, 6, 50}
    assert set(accuracy["intervention"]) == {BASE, *RECOVERING, *DAMAGING}
    assert not accuracy.duplicated(["norm", "seed", "length", "intervention", "where"]).any()
    by_length = accuracy.groupby(["norm", "length"]).size()
    assert by_length.tolist() == [2, 48, 48, 48] * 2
    tested = counts.query("sample == 'tested'").groupby(["norm", "seed", "length"])[["sequences", "right"]].sum()
    assert set(tested["sequences"]) == {20}
    base = accuracy.query("intervention == @BASE and length > 0").set_index(["norm", "seed", "length"])["accuracy"]
    pd.testing.assert_series_equal(base.sort_index(), tested["right"] / 20, check_names=False)
    alone, _ = intervene([group(task_name, part=slice(1, None))], [5], HOW, 0)
    pd.testing.assert_frame_equal(alone, accuracy.query("seed == 5").reset_index(drop=True))


def test_the_first_sequences_are_tested_and_others_calibrated_with(monkeypatch):
    """Two samples of the training lengths and two of each length, of which no two have a query in common."""
    queries, of = {}, Parts.of

    def recorded(models, batches):
        found = np.concatenate([part["query"] for part in batches])
        queries[found.tobytes()] = set(found.tolist())
        return of(models, batches)

    monkeypatch.setattr(Parts, "of", recorded)
    intervene([group("argmax", ("none",))], [4, 5], HOW, 0)
    assert sorted(map(len, queries.values())) == [20] * 6 + [30] * 2
    assert len(set().union(*queries.values())) == 20 * 6 + 30 * 2
    for length in (1, 6, 50):
        [whole] = read(Argmax(classes=10), 40, length, 40)
        assert set(whole["query"][:20].tolist()) in queries.values()


def test_none_has_the_weights_of_ln_or_the_treatment_and_the_others_those_of_none():
    assert [partner(norm, ["none", "std", "ln", "rms"]) for norm in ("none", "std", "ln")] == ["ln", "none", "none"]
    assert partner("none", ["none", "std", "rms"]) == "rms"
    assert partner("none", ["none"]) == "none"


def test_right_answers_are_counted_by_the_targets_weight():
    weight = np.array([[0.0, 0.05, 0.06, 1.0], [0.5, 0.5, 0.5, 0.5]])
    right = np.array([[False, True, False, True], [True, True, True, False]])
    rows = [*counted([7, 8], weight, right)]
    bins = {(row["seed"], EDGES[row["bin"]]): (row["sequences"], row["right"]) for row in rows}
    assert bins == {(7, 0.0): (1, 0), (7, 0.03): (2, 1), (7, 0.99): (1, 1), (8, 0.5): (4, 3)}


def test_the_read_out_is_a_mean_over_seeds_that_have_enough_sequences():
    about = {"task": "argmax", "range": "short", "norm": "ln", "sample": "tested", "length": 64, "bin": 4}
    seeds = ((0, 20, 10), (1, 20, 20), (0, 20, 10), (2, 9, 0))
    rows = [about | {"seed": seed, "sequences": sequences, "right": right} for seed, sequences, right in seeds]
    [row] = read_out(pd.DataFrame(rows)).to_dict("records")
    assert (row["above"], row["to"], row["n"], row["sequences"]) == (0.1, 0.2, 2, 69)
    assert row["accuracy"] == pytest.approx(0.75)
    assert row["low"] < 0.75 < row["high"]
