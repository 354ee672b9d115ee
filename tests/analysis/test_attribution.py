import numpy as np
import pandas as pd
import pytest

from vanishing_variance.analysis.attribution import beside_accuracy, explained
from vanishing_variance.core.errors import InputError
from vanishing_variance.figures.mechanism import draw
from vanishing_variance.study.attribution_table import markdown
from vanishing_variance.study.quantities import GROUPINGS, QUANTITIES

WHERE = ("before", "after")


def made_up(seeds=6, norms=("none", "ln"), lengths=(16, 64, 256), tasks=("argmax",)):
    """Models whose accuracy is decided by the attention on the target, and by nothing else."""
    rng = np.random.default_rng(0)
    inside, accuracy = [], []
    for task in tasks:
        for norm in norms:
            for seed in range(seeds):
                model = {"task": task, "range": "short", "norm": norm, "seed": seed}
                luck = rng.normal(0, 0.03)
                for length in (0, *lengths):
                    target = 0.9 - 0.1 * np.log2(max(length, 8) / 8) + luck + 0.05 * (norm == "ln")
                    seen = {"target": target, "largest": target + rng.uniform(0, 0.2), "entropy": rng.uniform(1, 2)}
                    for where in WHERE:
                        seen |= {f"mean_{where}": rng.normal(), f"mean_se_{where}": 0.01}
                        seen |= {f"variance_{where}": rng.uniform(1, 2), f"feature_variance_{where}": rng.uniform(1, 2)}
                        seen |= {f"shift_{where}": rng.uniform(0, 1)}
                    inside.append({**model, "sample": "tested" if length else "trained", "length": length, **seen})
                    for temperature, shift in (("plain", 0), ("adaptive", 0.02), ("fitted", 0.03)):
                        row = {**model, "temperature": temperature, "length": length, "accuracy": target + shift}
                        accuracy += [row] if length else []
    return pd.DataFrame(inside), pd.DataFrame(accuracy)


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
    assert "trained_target" not in beside


def test_what_decides_the_accuracy_explains_all_of_it_and_noise_does_not():
    table = explained(beside_accuracy(*made_up()), 0).set_index(["grouping", "quantity"])
    assert len(table) == len(GROUPINGS) * len(QUANTITIES)
    for grouping in GROUPINGS:
        assert table.loc[(grouping, "target"), "r2"] == pytest.approx(1)
        assert table.loc[(grouping, "variance_after"), "r2"] < 0.4
        assert table.loc[(grouping, "target"), "r2_low"] > table.loc[(grouping, "shift_after"), "r2_high"]
    assert table.loc[("between seeds", "largest"), "r2"] < 0.9
    assert (table["n"] == 36).all()


def test_groupings_take_off_what_they_say():
    """A quantity that is one number a length explains nothing within a length, and all across lengths."""
    inside, accuracy = made_up()
    accuracy["accuracy"] = 1 / accuracy["length"]
    inside["entropy"] = 1 / inside["length"].clip(lower=1)
    table = explained(beside_accuracy(inside, accuracy), 0).set_index(["grouping", "quantity"])
    assert table.loc[("across lengths", "entropy"), "r2"] == pytest.approx(1)
    for grouping in ("between seeds", "between models"):
        assert np.isnan(table.loc[(grouping, "entropy"), "r2"].astype(float))
        assert "no variation within groups" in table.loc[(grouping, "entropy"), "note"]
    # What is one number a normaliser does not vary between seeds, but does between models.
    accuracy["accuracy"] = (accuracy["norm"] == "ln") * 0.5 + accuracy["seed"] * 1e-3
    inside["entropy"] = (inside["norm"] == "ln") * 1.0
    table = explained(beside_accuracy(inside, accuracy), 0).set_index(["grouping", "quantity"])
    assert table.loc[("between models", "entropy"), "r2"] > 0.99
    assert np.isnan(float(table.loc[("between seeds", "entropy"), "r2"]))


def test_the_table_has_a_row_a_quantity_and_says_why_a_number_is_missing():
    table = explained(beside_accuracy(*made_up(tasks=("argmax", "dictionary"))), 0)
    text = markdown(table)
    assert text.count("| attention on the target item | 100 [100, 100] |") == 2
    assert "**dictionary, trained on the short range (none, ln)**" in text
    one_seed = explained(beside_accuracy(*made_up(seeds=1)), 0)
    assert "fewer than 5 clusters: no interval" in markdown(one_seed)
    assert "nan" not in markdown(one_seed)


def test_a_single_length_explains_nothing_across_lengths_and_says_so():
    table = explained(beside_accuracy(*made_up(lengths=(16,))), 0)
    across = table[table["grouping"] == "across lengths"]
    assert across["r2"].isna().all()
    assert (across["note"] != "").all()
    assert "nan" not in markdown(table)
    assert draw(table, {"short": 16}, pd.Series([8, 8])).figure.axes


def test_a_number_that_is_not_finite_is_one_clear_error():
    inside, accuracy = made_up()
    place = inside.query("norm == 'ln' and seed == 3 and length == 64").index[0]
    inside.loc[place, "shift_after"] = np.inf
    said = r"^runs/evaluated: shift_after is inf \(task argmax, range short, norm ln, seed 3, length 64\)"
    with pytest.raises(InputError, match=said):
        beside_accuracy(inside, accuracy)
