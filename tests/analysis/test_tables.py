import numpy as np
import pandas as pd
import pytest

from vanishing_variance.analysis.paired_tests import paired_tests, select
from vanishing_variance.analysis.tables import ablation_table, accuracy_table
from vanishing_variance.core.frames import read_csv
from vanishing_variance.core.seeding import stream
from vanishing_variance.study.results import COLUMNS
from vanishing_variance.study.runs import REFERENCE

PAPER = read_csv(REFERENCE)


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


def paired_up(accuracy, norm="ln", ranges=("short", "long")):
    """Every paired test of these accuracies, the answers behind them drawn at random."""
    seeds, lengths = accuracy["seed"].nunique(), accuracy["length"].unique()
    names = [f"{name}-{n}" for name in ("plain", "adaptive", "fitted") for n in lengths]

    def answers(*variant):
        return {name: stream(*variant, name).random((seeds, 30)) < 0.5 for name in names}

    return paired_tests(accuracy, answers, norm, 0, ranges)


def test_table_1_shows_ours_beside_the_papers():
    table = accuracy_table(1, paired_up(made_up()), "ln", PAPER)
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
    for name in ("95% interval, bootstrap", "p, Holm", "p, Wilcoxon", "seeds for 90% power"):
        assert len([line for line in lines if line.startswith(f"| {name} |")]) == 3
    share = next(line for line in lines if line.startswith("| uncertainty from test sequences (%)")).split("|")[2]
    assert share.strip() == f"{ours['share_sequences'] * 100:.0f}"


def test_a_temperature_that_fewer_seeds_have_says_its_own_n():
    accuracy = made_up()
    fewer = accuracy[(accuracy["temperature"] != "fitted") | (accuracy["seed"] < 3)]
    text = accuracy_table(1, paired_up(fewer), "ln", PAPER).markdown()
    headings = [line for line in text.splitlines() if line.startswith("| **")]
    assert [", n = 3 seeds" in line for line in headings] == [False, False, True]
    assert "Means over n = 4 seeds where no other n stands;" in text
    assert "where no other n" not in accuracy_table(1, paired_up(accuracy), "ln", PAPER).markdown()


def test_a_gain_over_other_seeds_than_those_of_the_test_says_its_own_n():
    accuracy = made_up()
    fewer = accuracy[(accuracy["norm"] != "std") | (accuracy["seed"] < 3)]
    text = ablation_table(3, paired_up(fewer), "ln", PAPER).markdown()
    assert "| gain of std (pp) |" in text
    assert "| gain of ln (pp), n = 4 seeds |" in text
    assert "Means over n = 3 seeds" in text


def test_where_no_answers_are_kept_no_row_says_what_the_sequences_add():
    tests, row = paired_up(made_up()), "uncertainty from test sequences (%)"
    kept, lost = tests, tests.assign(share_sequences=np.nan)
    for of, rows, share in ((kept, 3, True), (lost, 0, False)):
        text = accuracy_table(1, of, "ln", PAPER).markdown()
        assert text.count(f"| {row} |") == rows
        assert (f"“{row}” is their share" in text) == share
    assert row not in ablation_table(3, lost, "ln", PAPER).markdown()


def test_tables_4_and_5_are_of_the_long_range_where_the_paper_has_no_adaptive_temperature():
    tests = paired_up(made_up())
    table = accuracy_table(4, tests, "ln", PAPER)
    text = table.markdown()
    assert "trained on the long range" in text
    assert "| paper: none | 99.8 | 47.8 |" in text
    assert text.count("paper: none") == 1
    assert text.count("**with the adaptive temperature") == 2
    expected = select(tests, "argmax", "long", "ln", "none")["p"]
    assert table.numbers["p"].tolist() == expected.tolist()
    text = accuracy_table(5, tests, "ln", PAPER).markdown()
    assert "| paper: p | 2e-01 | 2e-13 |" in text


def test_the_paper_stands_only_beside_its_own_comparison():
    accuracy = made_up(("none", "std", "ln", "rms"))
    for norm in ("std", "rms"):
        table = accuracy_table(2, paired_up(accuracy, norm), norm, PAPER)
        assert "paper" not in table.markdown() + table.latex()
    assert "paper" in ablation_table(6, paired_up(accuracy, "rms"), "rms", PAPER).markdown()


def test_table_3_compares_ln_with_std_whatever_the_treatment_is():
    accuracy = made_up(("none", "std", "ln", "rms"))
    tables = [ablation_table(3, paired_up(accuracy, norm), norm, PAPER) for norm in ("ln", "rms")]
    of_ln, of_rms = (table.markdown() for table in tables)
    assert "gain of rms" not in of_ln
    assert "gain of rms (pp)" in of_rms
    assert set(of_ln.splitlines()) - set(of_rms.splitlines()) == set()
    expected = select(paired_up(accuracy), "argmax", "short", "ln", "std").iloc[:2]
    assert tables[0].numbers["p"].tolist() == expected["p"].tolist()
    gains = select(paired_up(accuracy), "argmax", "short", "std", "none").iloc[:2]["difference"].tolist()
    assert tables[0].numbers["gain_std"].tolist() == pytest.approx(gains)
    assert "| gain of std (pp) | -0.05 | +0.70 |" in of_ln.splitlines()


def test_one_seed_says_why_there_is_no_p():
    table = accuracy_table(1, paired_up(made_up(seeds=1)), "ln", PAPER)
    assert "| p | – | – |" in table.markdown()
    assert "No p-value: plain 2^4: one seed: no test" in table.note
    assert "nan" not in table.markdown().lower()


def test_latex_is_balanced_and_escaped():
    text = accuracy_table(1, paired_up(made_up()), "ln", PAPER).latex()
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    assert "$2^{14}$" in text
    assert r"d\_z" in text
    assert r"accuracy (\%)" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count("&") for line in rows} == {2}
