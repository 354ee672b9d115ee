import numpy as np
import pytest
from made_up import accuracy, noisy, shifted, verdict
from scipy import stats

from vanishing_variance.statistics.power import seeds_for_equivalence
from vanishing_variance.study.verdict import CONTRADICTED, SUPPORTED, UNDECIDED


def test_orthogonal_is_an_interaction_within_a_margin():
    # Table 1 at 64, 512 and 4096: 0.2, 1.9, 4.7 with the adaptive temperature, 0.2, 1.8, 5.0 without.
    assert verdict("argmax-orthogonal")["paper"] == pytest.approx(-0.2 / 3, abs=1e-3)
    for by, expected in ((0, SUPPORTED), (0.4, SUPPORTED), (2.5, CONTRADICTED), (-2.5, CONTRADICTED)):
        frame = shifted("argmax", "ln", by, temperatures=("adaptive",))
        found = verdict("argmax-orthogonal", accuracy=frame)
        assert found["verdict"] == expected
        assert found["ours"] == pytest.approx(by, abs=0.5)
        assert verdict("argmax-adaptive", accuracy=frame)["verdict"] == SUPPORTED
    # As much more of both is no interaction.
    frame = accuracy()
    frame.loc[(frame["temperature"] == "adaptive") & (frame["length"] > 16), "accuracy"] += 0.2
    assert verdict("argmax-orthogonal", accuracy=frame)["ours"] == verdict("argmax-orthogonal")["ours"]


def test_an_interval_wider_than_the_margin_says_how_many_seeds_would_do():
    found = verdict("dictionary-orthogonal", accuracy=noisy(5, task="dictionary"))
    assert found["verdict"] == UNDECIDED
    assert found["high"] - found["low"] > 2
    assert "the interval is wider than ±1, " in found["evidence"]
    assert found["evidence"].endswith(" seeds for 90% power, were the truth 0")


def test_half_in_the_margin_is_undecided_though_the_interval_is_narrow():
    frame = shifted("argmax", "ln", 1.0 - verdict("argmax-orthogonal")["ours"], temperatures=("adaptive",))
    found = verdict("argmax-orthogonal", accuracy=frame)
    assert 0 < found["low"] < 1 < found["high"]
    assert found["verdict"] == UNDECIDED
    assert found["evidence"].endswith(", an interaction that is not shown to exceed ±1")


@pytest.mark.parametrize(("sign", "root"), [(1, 0), (-1, 0)])
def test_nearer_compares_absolute_differences_whatever_their_signs(sign, root):
    """ln - std is 5 points on argmax, and 0, 3, 5 and 8 on dictionary, of either sign."""
    for apart, expected in ((0, SUPPORTED), (3, SUPPORTED), (5, UNDECIDED), (8, CONTRADICTED)):
        found = verdict("ln-std-alike", accuracy=shifted("dictionary", "ln", sign * apart))
        assert found["verdict"] == expected, apart
        assert found["ours"] == pytest.approx(5 - apart, abs=0.6)
    undecided = verdict("ln-std-alike", accuracy=noisy(20, root, norm="ln"))
    assert undecided["verdict"] == UNDECIDED
    assert undecided["evidence"].endswith("seeds for 90% power")


def test_nearer_is_welchs_test():
    frame = noisy(3, norm="ln")
    wide = {
        (task, norm): of.groupby("seed")["accuracy"].mean() * 100
        for (task, norm), of in frame.query("range == 'short' and temperature == 'plain' and length > 16").groupby(
            ["task", "norm"]
        )
    }
    argmax, dictionary = ((wide[task, "ln"] - wide[task, "std"]).to_numpy() for task in ("argmax", "dictionary"))
    expected = stats.ttest_ind(argmax, dictionary * np.sign(dictionary.mean()), equal_var=False)
    found = verdict("ln-std-alike", accuracy=frame)
    assert [found["low"], found["high"]] == pytest.approx(expected.confidence_interval(), rel=1e-3)


@pytest.mark.parametrize("task", ["argmax", "dictionary"])
def test_nearers_n_is_that_of_the_task_with_fewer_seeds(task):
    frame = noisy(3, norm="ln")
    assert (
        verdict("ln-std-alike", accuracy=frame.query("task != @task or seed > 0"))["n"] == frame["seed"].nunique() - 1
    )


def test_seeds_for_equivalence_are_enough_and_one_fewer_is_not():
    rng = np.random.default_rng(0)
    n = seeds_for_equivalence(1.5, 1.0)

    def power(seeds):
        values = rng.normal(0, 1.5, (20_000, seeds))
        half = stats.t.ppf(0.975, seeds - 1) * values.std(axis=1, ddof=1) / seeds**0.5
        return (np.abs(values.mean(axis=1)) + half < 1).mean()

    assert power(n) == pytest.approx(0.9, abs=0.03)
    assert power(n - 6) < 0.87
    assert seeds_for_equivalence(0, 1.0) == 2
    assert seeds_for_equivalence(1e6, 1.0) is None
    with pytest.raises(ValueError, match="positive margin, not 0"):
        seeds_for_equivalence(1.0, 0)
