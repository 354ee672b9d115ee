from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from vanishing_variance.io.frames import read_csv
from vanishing_variance.metrics import summary
from vanishing_variance.results import COLUMNS, compare
from vanishing_variance.tables import ablation_table, accuracy_table

PAPER = read_csv(Path(__file__).resolve().parents[1] / "reference/paper.csv")


def made_up(norms=("none", "std", "ln"), seeds=4, lengths=(16, 16384)):
    rng = np.random.default_rng(0)
    rows = [
        (task, range_, norm, seed, temperature, length, 0.5 + 0.01 * place + rng.normal(0, 0.004))
        for task in ("argmax", "dictionary")
        for range_ in ("short", "long")
        for place, norm in enumerate(norms)
        for seed in range(seeds)
        for temperature in ("plain", "adaptive", "fitted")
        for length in lengths
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_table_1_shows_ours_beside_the_papers():
    table = accuracy_table(1, made_up(), "argmax", "short", "ln", PAPER)
    lines = table.markdown().splitlines()
    assert lines[2] == "|  | 2^4 | 2^14 |"
    assert "| paper: none | 99.6 | 20.8 |" in lines
    assert "| paper: + ln | 99.6 | 22.6 |" in lines
    assert "| paper: p | 8e-01 | 3e-03 |" in lines
    assert "| paper: + ln | 99.7 | 30.4 |" in lines
    ours = table.numbers.iloc[0]
    assert f"| none | {ours['none']:.1f} |" in table.markdown()
    assert f"| difference (pp) | {ours['difference']:+.2f} |" in table.markdown()
    assert ours["ln"] - ours["none"] == pytest.approx(ours["difference"])
    assert "n = 4 seeds" in table.note


def test_tables_4_and_5_are_of_the_long_range_where_the_paper_has_no_adaptive_temperature():
    accuracy = made_up()
    table = accuracy_table(4, accuracy, "argmax", "long", "ln", PAPER)
    text = table.markdown()
    assert "trained on the long range" in text
    assert "| paper: none | 99.8 | 47.8 |" in text
    assert text.count("paper: none") == 1
    assert text.count("**with the adaptive temperature") == 2
    expected = compare(accuracy, "argmax", "long", "ln", "none")["p"]
    assert table.numbers["p"].tolist() == expected.tolist()
    assert "| paper: p | 2e-01 | 2e-13 |" in accuracy_table(5, accuracy, "dictionary", "long", "ln", PAPER).markdown()


def test_the_paper_stands_only_beside_its_own_comparison():
    accuracy = made_up(("none", "std", "ln", "rms"))
    for norm in ("std", "rms"):
        table = accuracy_table(2, accuracy, "dictionary", "short", norm, PAPER)
        assert "paper" not in table.markdown() + table.latex() + ",".join(table.numbers)
    assert "paper" in ablation_table(6, accuracy, "dictionary", "rms", PAPER).markdown()


def test_table_3_compares_ln_with_std_whatever_the_treatment_is():
    accuracy = made_up(("none", "std", "ln", "rms"))
    tables = [ablation_table(3, accuracy, "argmax", norm, PAPER) for norm in ("ln", "rms")]
    of_ln, of_rms = (table.markdown() for table in tables)
    assert "gain of rms" not in of_ln
    assert "gain of rms (pp)" in of_rms
    assert set(of_ln.splitlines()) - set(of_rms.splitlines()) == set()
    expected = compare(accuracy, "argmax", "short", "ln", "std").iloc[:2]
    assert tables[0].numbers["p"].tolist() == expected["p"].tolist()
    gains = compare(accuracy, "argmax", "short", "std", "none").iloc[:2]["difference"].tolist()
    assert tables[0].numbers["gain_std"].tolist() == pytest.approx(gains)
    assert "| gain of std (pp) | -0.05 | +0.70 |" in of_ln.splitlines()


def test_one_seed_says_why_there_is_no_p():
    table = accuracy_table(1, made_up(seeds=1), "argmax", "short", "ln", PAPER)
    assert "| p | – | – |" in table.markdown()
    assert "No p-value: plain 2^4: one seed: no test" in table.note
    assert "nan" not in table.markdown().lower()


def test_latex_is_balanced_and_escaped():
    text = accuracy_table(1, made_up(), "argmax", "short", "ln", PAPER).latex()
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    assert "$2^{14}$" in text
    assert r"d\_z" in text
    assert r"accuracy (\%)" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count("&") for line in rows} == {2}


def test_metrics_hold_means_and_log10_p_by_role():
    compared = compare(made_up(), "argmax", "short", "ln", "none")
    document = summary(compared)
    assert document["plain"]["norm"]["16384"] == round(compared["treatment"].iloc[1], 2)
    assert document["adaptive"]["log10_p"]["00016"] == round(np.log10(compared["p"].iloc[2]), 2)
    assert document["plain"]["none"].keys() == {"00016", "16384"}


def test_metrics_leave_out_a_p_that_does_not_exist():
    document = summary(compare(made_up(seeds=1), "argmax", "short", "ln", "none"))
    assert document["plain"]["log10_p"] == {}
    assert len(document["plain"]["none"]) == 2
