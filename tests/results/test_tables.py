from made_up_tests import PAPER, made_up, paired_up, select

from vanishing_variance.results.tables import markdown, numbers


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
    assert "| p " not in text
    assert "Of one seed there is no p-value." in text
    assert "nan" not in text.lower()
