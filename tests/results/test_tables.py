import numpy as np
import pytest
from made_up_tests import PAPER, made_up, of_four_seeds, paired_up

from vanishing_variance.results.paired_tests import select
from vanishing_variance.results.tables import SEQUENCES, ablation_table, accuracy_table


def test_table_1_shows_ours_beside_the_papers():
    table = accuracy_table(1, of_four_seeds(), "ln", PAPER)
    ours = table.numbers.iloc[0]
    assert ours["ln"] - ours["none"] == pytest.approx(ours["difference"])
    assert ours[["paper_none", "paper_ln", "paper_p"]].tolist() == [99.6, 99.6, 0.8]
    lines = table.markdown().splitlines()
    for row in (
        "|  | 2^4 | 2^14 |",
        f"| none | {ours['none']:.1f} |",
        f"| difference (pp) | {ours['difference']:+.2f} |",
        f"| {SEQUENCES} | {ours['share_sequences'] * 100:.0f} |",
        "| paper: + ln | 99.6 | 22.6 |",
        "| paper: p | 8e-01 | 3e-03 |",
    ):
        assert any(line.startswith(row) for line in lines), row
    lost = accuracy_table(1, of_four_seeds().assign(share_sequences=np.nan), "ln", PAPER)
    assert SEQUENCES not in lost.markdown()
    latex = table.latex()
    assert latex.count(r"\begin{") == latex.count(r"\end{") == 2
    assert r"d\_z" in latex


def test_of_another_treatment_the_paper_stands_beside_ln_against_std_alone():
    tests = paired_up(made_up(("none", "std", "ln", "rms")), "rms", ranges=("short",))
    table = accuracy_table(2, tests, "rms", PAPER)
    assert "paper" not in table.markdown() + table.latex()
    numbers = ablation_table(3, tests, "rms", PAPER).numbers
    assert numbers["p"].tolist() == select(tests, "argmax", "short", "ln", "std").iloc[:2]["p"].tolist()
    assert numbers["paper_gain_std"].tolist() == [-0.05, 0.7]
    for norm in ("std", "rms"):
        gains = select(tests, "argmax", "short", norm, "none").iloc[:2]["difference"]
        assert numbers[f"gain_{norm}"].tolist() == gains.tolist()


def test_one_seed_says_why_there_is_no_p():
    table = accuracy_table(1, paired_up(made_up(seeds=1), ranges=("short",)), "ln", PAPER)
    assert "| p | – | – |" in table.markdown()
    assert "No p-value: plain 2^4: one seed: no test" in table.note
    assert "nan" not in table.markdown().lower()
