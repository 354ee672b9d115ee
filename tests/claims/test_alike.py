import numpy as np
import pytest
from made_up import noisy, shifted, verdict
from scipy import stats

from vanishing_variance.claims.verdict import CONTRADICTED, SUPPORTED, UNDECIDED


def test_orthogonal_is_an_interaction_within_a_margin():
    # Table 1 at 64, 512 and 4096: 0.2, 1.9, 4.7 with the adaptive temperature, 0.2, 1.8, 5.0 without.
    alike = verdict("argmax-orthogonal")
    assert alike["paper"] == pytest.approx(-0.2 / 3, abs=1e-3)
    for by, expected in ((0.4, SUPPORTED), (1 - alike["ours"], UNDECIDED), (2.5, CONTRADICTED), (-2.5, CONTRADICTED)):
        found = verdict("argmax-orthogonal", accuracy=shifted("argmax", "ln", by, rules=("adaptive",)))
        assert found["verdict"] == expected
        assert found["ours"] == pytest.approx(alike["ours"] + by, abs=0.01)


def test_an_interaction_is_that_of_each_seed_and_a_wide_interval_says_how_many_seeds_would_do():
    frame = noisy(5).sample(frac=1, random_state=0)
    of = frame.query("task == 'dictionary' and range == 'short' and length > 16")
    means = 100 * of.pivot_table(index="seed", columns=["rule", "norm"], values="accuracy")
    gains = {name: means[name, "ln"] - means[name, "none"] for name in ("adaptive", "last")}
    expected = stats.ttest_rel(gains["adaptive"], gains["last"]).confidence_interval()
    found = verdict("dictionary-orthogonal", accuracy=frame)
    assert [found["low"], found["high"]] == pytest.approx(expected, rel=1e-3)
    assert found["verdict"] == UNDECIDED
    assert "seeds for 90% power" in found["evidence"]


@pytest.mark.parametrize("sign", [1, -1])
def test_nearer_compares_absolute_differences_whatever_their_signs(sign):
    """ln - std is 5 points on argmax, and 0, 3, 5 and 8 on dictionary, of either sign."""
    for apart, expected in ((0, SUPPORTED), (3, SUPPORTED), (5, UNDECIDED), (8, CONTRADICTED)):
        found = verdict("ln-std-alike", accuracy=shifted("dictionary", "ln", sign * apart))
        assert found["verdict"] == expected, apart
        assert found["ours"] == pytest.approx(5 - apart, abs=0.6)


def test_nearer_is_welchs_test_with_the_seeds_of_the_task_that_has_fewer():
    frame = noisy(3, norm="ln").query("task != 'dictionary' or seed > 0")
    of = frame.query("range == 'short' and rule == 'last' and length > 16")
    means = 100 * of.pivot_table(index="seed", columns=["task", "norm"], values="accuracy")
    argmax, dictionary = ((means[task, "ln"] - means[task, "std"]).dropna() for task in ("argmax", "dictionary"))
    expected = stats.ttest_ind(argmax, dictionary * np.sign(dictionary.mean()), equal_var=False)
    found = verdict("ln-std-alike", accuracy=frame)
    assert [found["low"], found["high"]] == pytest.approx(expected.confidence_interval(), rel=1e-3)
    assert found["n"] == 7
