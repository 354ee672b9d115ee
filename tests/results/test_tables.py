import pytest
from made_up_tests import PAPER, made_up, of_four_seeds, paired_up, select

from vanishing_variance.results.tables import TITLES, markdown, numbers


def cells(text):
    """The cells of a Markdown table's rows, by name."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {name: texts for name, *texts in reversed(lines)}


def test_table_1_shows_ours_beside_the_papers():
    found = numbers(of_four_seeds(), "ln", PAPER)[1]
    ours = found.iloc[0]
    assert ours["ln"] - ours["none"] == pytest.approx(ours["difference"])
    assert ours[["paper_none", "paper_ln", "paper_p"]].tolist() == [99.6, 99.6, 0.8]
    text = markdown(1, found, "ln", "5 gradient steps")
    assert text.startswith("# Table 1. argmax, trained on the short range: accuracy (%), none against ln, after 5 grad")
    shown = cells(text)
    assert shown[""] == ["2^4", "2^14"]
    assert shown["none"][0] == f"{ours['none']:.1f}"
    assert shown["ln − none (pp)"][0] == f"{ours['difference']:+.2f} [{ours['low']:+.2f}, {ours['high']:+.2f}]"
    assert shown["paper: + ln"] == ["99.6", "22.6"]
    assert shown["paper: p"] == ["8e-01", "3e-03"]
    assert [line.split("**")[1] for line in text.splitlines() if "**" in line] == [
        f"{title}, n = 4" for title in TITLES.values()
    ]


def test_of_another_treatment_the_paper_stands_beside_ln_against_std_alone():
    tests = paired_up(made_up(("none", "std", "ln", "rms")), "rms", ranges=("short",))
    found = numbers(tests, "rms", PAPER)
    assert list(found) == [1, 2, 3, 6]
    assert "paper: + rms" not in markdown(2, found[2], "rms", "")
    assert found[3]["p"].tolist() == select(tests, "argmax", "short", "ln", "std").iloc[:2]["p"].tolist()
    assert found[3]["paper_gain_std"].tolist() == [-0.05, 0.7]
    for norm in ("std", "rms"):
        gains = select(tests, "argmax", "short", norm, "none").iloc[:2]["difference"]
        assert found[3][f"gain_{norm}"].tolist() == gains.tolist()


def test_one_seed_says_why_there_is_no_p():
    found = numbers(paired_up(made_up(seeds=1), ranges=("short",)), "ln", PAPER)[1]
    text = markdown(1, found, "ln", "")
    assert "p" not in cells(text)
    assert "Of one seed there is no p-value." in text
    assert "nan" not in text.lower()
