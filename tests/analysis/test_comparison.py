import numpy as np
import pandas as pd
import pytest
from test_tables import made_up, paired_up

from vanishing_variance.analysis.comparison import agreement, cells, markdown
from vanishing_variance.analysis.paired_tests import select
from vanishing_variance.core.frames import read_csv
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.study.runs import REFERENCE

PAPER = read_csv(REFERENCE)
LENGTHS = tuple(2**power for power in range(4, 15))


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_every_cell_that_survives_has_ours_beside_it():
    accuracy = made_up(lengths=LENGTHS)
    compared = cells(paired_up(accuracy), PAPER)
    assert sorted(compared["paper"]) == sorted(PAPER["value"].dropna())
    cell = one(compared, table=2, variant="ln", temperature="adaptive", length=4096)
    values = accuracy.query("task == 'dictionary' and range == 'short' and norm == 'ln' and temperature == 'adaptive'")
    assert cell["ours"] == pytest.approx(values.query("length == 4096")["accuracy"].mean() * 100)
    assert cell["difference"] == pytest.approx(cell["ours"] - 44.5)
    by_seed = values.query("length == 4096")["accuracy"].to_numpy() * 100
    assert (cell["ours"], cell["low"], cell["high"]) == pytest.approx(interval(by_seed))
    assert cell["n"] == len(by_seed)
    tests = select(paired_up(accuracy), "argmax", "long", "ln", "none")
    tested = tests.query("temperature == 'plain' and length == 64").iloc[0]
    cell = one(compared, table=4, variant="ln_vs_none", length=64)
    assert (cell["ours"], cell["gain"]) == (tested["p"], tested["difference"])
    assert (cell["low"], cell["high"], cell["n"]) == (tested["low"], tested["high"], tested["n"])
    of_gain = one(compared, table=3, variant="std", length=64)
    gained = select(paired_up(accuracy), "argmax", "short", "std", "none").query("temperature == 'plain'")
    gained = gained.query("length == 64").iloc[0]
    assert (of_gain["ours"], of_gain["low"]) == (gained["difference"], gained["low"])
    assert pd.isna(cell["difference"])
    assert one(compared, table=3, variant="std", length=16)["paper"] == -0.05


def test_what_was_not_trained_or_tested_is_left_out():
    compared = cells(paired_up(made_up(), ranges=("short",)), PAPER)
    assert set(compared["length"]) == {16, 16384}
    assert set(compared["table"]) == {1, 2, 3, 6}
    other = cells(paired_up(made_up(("none", "std", "ln", "rms")), "rms"), PAPER)
    assert set(other.query("table == 4")["variant"]) == {"none"}


def test_agreement_counts_signs_both_ways():
    accuracy = made_up(lengths=LENGTHS, seeds=12)
    compared = cells(paired_up(accuracy), PAPER)
    ahead = agreement(compared)
    paper = PAPER[(PAPER["table"] == 2) & (PAPER["quantity"] == "p_value")]["value"]
    assert ahead["table2"]["significant"] == ahead["table2"]["confirmed"] == (paper < 0.01).sum()
    assert ahead["table2"]["reversed"] == 0
    swapped = accuracy.assign(norm=accuracy["norm"].replace({"ln": "none", "none": "ln"}))
    behind = agreement(cells(paired_up(swapped), PAPER))
    assert behind["table2"]["confirmed"] == 0
    assert behind["table2"]["reversed"] == behind["table2"]["significant"]
    differences = compared.query("table == 1")["difference"].dropna()
    assert ahead["table1"]["mean_difference"] == round(differences.mean(), 2)
    assert ahead["table1"]["mean_absolute_difference"] == round(np.abs(differences).mean(), 2)
    assert ahead["table6"]["cells"] == 0
    assert "mean_difference" not in ahead["table6"]
    text = markdown(ahead)
    of = ahead["table1"]
    numbers = f"{of['mean_difference']:+.1f} | {of['mean_absolute_difference']:.1f}"
    assert f"| Table 1 | 44 | {numbers} | {of['significant']} | {of['confirmed']} | 0 |" in text
    assert "| Table 6 | 0 | – | – | 0 | 0 | 0 |" in text
