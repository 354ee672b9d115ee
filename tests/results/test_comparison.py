import numpy as np
import pandas as pd
import pytest
from made_up_tests import PAPER, made_up, of_four_seeds, paired_up

from vanishing_variance.results.comparison import agreement, cells
from vanishing_variance.results.paired_tests import select
from vanishing_variance.statistics.intervals import interval

# So many seeds that every gain is significant.
ACCURACY = made_up(seeds=12, lengths=[2**power for power in range(4, 15)])


@pytest.fixture(scope="module")
def tests():
    return paired_up(ACCURACY)


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_every_cell_that_survives_has_ours_beside_it(tests):
    compared = cells(tests, PAPER)
    assert sorted(compared["paper"]) == sorted(PAPER["value"].dropna())
    values = ACCURACY.query("task == 'dictionary' and range == 'short' and norm == 'ln' and temperature == 'adaptive'")
    by_seed = values.query("length == 4096")["accuracy"].to_numpy() * 100
    cell = one(compared, table=2, variant="ln", temperature="adaptive", length=4096)
    assert (cell["ours"], cell["low"], cell["high"]) == pytest.approx(interval(by_seed))
    assert (cell["difference"], cell["n"]) == (pytest.approx(cell["ours"] - 44.5), 12)
    tested = one(select(tests, "argmax", "long", "ln", "none"), temperature="plain", length=64)
    cell = one(compared, table=4, variant="ln_vs_none", length=64)
    assert (cell["ours"], cell["gain"]) == (tested["p"], tested["difference"])
    assert (cell["low"], cell["high"], cell["n"]) == (tested["low"], tested["high"], tested["n"])
    assert pd.isna(cell["difference"])
    gained = one(select(tests, "argmax", "short", "std", "none"), temperature="plain", length=64)
    cell = one(compared, table=3, variant="std", length=64)
    assert (cell["ours"], cell["low"]) == (gained["difference"], gained["low"])


def test_what_was_not_trained_or_tested_is_left_out():
    compared = cells(of_four_seeds().query("range == 'short'"), PAPER)
    assert set(compared["length"]) == {16, 16384}
    assert set(compared["table"]) == {1, 2, 3, 6}
    other = cells(paired_up(made_up(("none", "ln", "rms")), "rms", ranges=("long",)), PAPER)
    assert set(other.query("table == 4")["variant"]) == {"none"}


def test_agreement_counts_signs_both_ways(tests):
    compared = cells(tests, PAPER)
    ahead, behind = agreement(compared), agreement(compared.assign(gain=-compared["gain"]))
    paper = PAPER[(PAPER["table"] == 2) & (PAPER["quantity"] == "p_value")]["value"]
    assert ahead["table2"]["significant"] == ahead["table2"]["confirmed"] == (paper < 0.01).sum()
    assert behind["table2"]["reversed"] == behind["table2"]["significant"]
    assert ahead["table2"]["reversed"] == behind["table2"]["confirmed"] == 0
    unclear = agreement(compared.assign(ours=0.02))["table2"]
    assert unclear["confirmed"] == unclear["reversed"] == 0
    differences = compared.query("table == 1")["difference"].dropna()
    assert ahead["table1"]["mean_difference"] == round(differences.mean(), 2)
    assert ahead["table1"]["mean_absolute_difference"] == round(np.abs(differences).mean(), 2)
