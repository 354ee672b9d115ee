from functools import partial

import numpy as np
import pandas as pd
import pytest
from small import DATA, make_trained

from vanishing_variance.core import parallel, registry
from vanishing_variance.core.ranges import Range
from vanishing_variance.inference.sequences import of_length, of_training_lengths
from vanishing_variance.interventions.config import Interventions
from vanishing_variance.interventions.measurement import Group, intervene, partner
from vanishing_variance.interventions.parts import Parts
from vanishing_variance.interventions.sequences import drawn, first
from vanishing_variance.study.interventions import BASE, DAMAGING, RECOVERING
from vanishing_variance.study.readings import EDGES, counted, read_out


def read(task, sequences, length, size):
    """The test sequences of a length, a part at a time, as from a file."""
    whole = task.sample(np.random.default_rng(0), sequences, length)
    for start in range(0, sequences, size):
        yield {name: array[start : start + size] for name, array in whole.items()}


HOW = Interventions(sequences=20, training_sequences=30)


def group(task_name, norms=("none", "ln")):
    trained = {norm: make_trained(task_name, norm, 100.0) for norm in norms}
    one = trained["none"].variant.task
    return Group(
        "short",
        Range(shortest=2, longest=6),
        {norm: of.variant for norm, of in trained.items()},
        {norm: of.weights for norm, of in trained.items()},
        {length: partial(read, one, 40, length) for length in (1, 6, 50)},
    )


def test_a_row_an_intervention_model_and_length_the_same_for_a_seed_alone(task_name):
    one = group(task_name)
    accuracy, counts = intervene([one], [4, 5], HOW, 0)
    assert list(accuracy.columns) == ["task", "range", "norm", "seed", "length", "intervention", "where", "accuracy"]
    assert set(accuracy["length"]) == {0, 1, 6, 50}
    assert set(accuracy["intervention"]) == {BASE, *RECOVERING, *DAMAGING}
    assert accuracy["accuracy"].between(0, 1).all()
    names = ["norm", "seed", "length", "intervention", "where"]
    assert not accuracy.duplicated(names).any()
    assert set(accuracy.groupby(["norm", "seed", "length"]).size()) == {1, 24}
    tested = counts.query("sample == 'tested'")
    assert set(tested.groupby(["norm", "seed", "length"])["sequences"].sum()) == {20}
    base = accuracy.query("intervention == @BASE and length > 0").set_index(["norm", "seed", "length"])["accuracy"]
    right = tested.groupby(["norm", "seed", "length"])["right"].sum() / 20
    pd.testing.assert_series_equal(base.sort_index(), right, check_names=False)
    later = {norm: {name: of[1:] for name, of in weights.items()} for norm, weights in one.weights.items()}
    alone, _ = intervene([Group(one.range_name, one.trained, one.variants, later, one.sequences)], [5], HOW, 0)
    pd.testing.assert_frame_equal(alone, accuracy.query("seed == 5").reset_index(drop=True))


def test_no_sequence_is_both_tested_and_calibrated_with(monkeypatch):
    """Two samples of the training lengths and two of each length, of which no two have a query in common."""
    queries, of = {}, Parts.of

    def recorded(models, batches):
        found = np.concatenate([part["query"].reshape(len(part["query"]), -1) for part in batches])
        queries[found.tobytes()] = {query.tobytes() for query in found}
        return of(models, batches)

    monkeypatch.setattr(Parts, "of", recorded)
    monkeypatch.setattr(parallel, "cores", lambda: 1)  # in this process
    intervene([group("argmax", ("none",))], [4, 5], HOW, 0)
    assert sorted(map(len, queries.values())) == [20] * 6 + [30] * 2
    assert len(set().union(*queries.values())) == 20 * 6 + 30 * 2


def test_each_variant_has_the_weights_of_its_partner():
    assert partner("none", ["none", "std", "ln"]) == "ln"
    assert partner("none", ["none", "rms"]) == "rms"
    assert {partner(norm, ["none", "std", "ln"]) for norm in ("std", "ln")} == {"none"}
    assert partner("none", ["none"]) == "none"


def test_sequences_are_the_first_that_are_tested_and_new_ones(task_name):
    task = registry.load_task(task_name).TASK(**DATA[task_name])
    rng = partial(np.random.default_rng, 3)
    tested = [*first(partial(read, task, 40, 5), 25, 10)]
    assert [len(part["target"]) for part in tested] == [10, 10, 5]
    whole = next(read(task, 40, 5, 40))
    np.testing.assert_array_equal(np.concatenate([part["target"] for part in tested]), whole["target"][:25])
    parts, together = ([*of_length(task, rng(), 7, 5, size)] for size in (3, 7))
    assert [len(part["target"]) for part in parts] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([one["query"] for one in parts]), together[0]["query"])
    short = [*of_training_lengths(task, rng(), 500, Range(shortest=2, longest=6), 100)]
    name = "class" if task_name == "argmax" else "value"
    lengths = np.repeat(*zip(*((part[name].shape[1], len(part[name])) for part in short), strict=True))
    assert len(lengths) == 500
    assert set(lengths) == {2, 3, 4, 5, 6}
    assert max(part[name].size for part in short) <= 100
    chosen = drawn(rng(), 11, HOW)
    assert {name: len(of) for name, of in chosen.items()} == {
        **{"weight": 11, "profile": 11, "calibrated": 20, "damage": 30}
    }
    assert int(chosen["damage"].max()) < 20 <= int(chosen["calibrated"].max()) < 30


def test_right_answers_are_counted_by_the_targets_weight():
    weight = np.array([[0.0, 0.05, 0.06, 1.0], [0.5, 0.5, 0.5, 0.5]])
    right = np.array([[False, True, False, True], [True, True, True, False]])
    rows = [*counted([7, 8], weight, right)]
    bins = {(row["seed"], EDGES[row["bin"]]): (row["sequences"], row["right"]) for row in rows}
    assert bins == {(7, 0.0): (1, 0), (7, 0.03): (2, 1), (7, 0.99): (1, 1), (8, 0.5): (4, 3)}


def test_the_read_out_is_a_mean_over_seeds_that_have_enough_sequences():
    about = {"task": "argmax", "range": "short", "norm": "ln", "sample": "tested", "length": 64, "bin": 4}
    rows = [about | {"seed": seed, "sequences": 20, "right": right} for seed, right in ((0, 10), (1, 20))]
    rows += [about | {"seed": 0, "sequences": 20, "right": 10}, about | {"seed": 2, "sequences": 9, "right": 0}]
    table = read_out(pd.DataFrame(rows))
    [row] = table.to_dict("records")
    assert (row["above"], row["to"], row["n"], row["sequences"]) == (0.1, 0.2, 2, 69)
    assert row["accuracy"] == pytest.approx(0.75)
    assert row["low"] < 0.75 < row["high"]
