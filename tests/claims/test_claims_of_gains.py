import numpy as np
import pytest
from made_up import accuracy, evidence, longest_trained, noisy, shifted, verdict
from scipy import stats

from vanishing_variance.claims.gains import lengths_behind
from vanishing_variance.claims.verdict import CONTRADICTED, SUPPORTED, UNDECIDED
from vanishing_variance.results.arms import Pair

ARGMAX = Pair("argmax", "ln", "none")


@pytest.mark.parametrize(
    ("key", "task", "line", "baseline", "rule"),
    [
        ("argmax", "argmax", "ln", "none", "last"),
        ("dictionary-adaptive", "dictionary", "ln", "none", "adaptive"),
        ("dictionary-long", "dictionary", "long-ln", "long-none", "last"),
        ("ln-std", "argmax", "ln", "std", "last"),
    ],
)
def test_a_gain_is_that_of_scipys_paired_test_beyond_training(key, task, line, baseline, rule):
    """In percentage points, over the seeds that both variants have, in any order; of no other results."""
    frame = noisy(2)
    frame = frame[frame["seed"] != np.where(frame["line"] == line, 2, np.where(frame["line"] == baseline, 0, -1))]
    frame = frame.sample(frac=1, random_state=0)
    longest = longest_trained(short=16, long=64)
    of = frame.query("task == @task and rule == @rule")
    of = of[of["length"] > longest[line]]
    means = 100 * of.pivot_table(index="seed", columns="line", values="accuracy")
    ours, theirs = means[[line, baseline]].dropna().to_numpy().T
    test = stats.ttest_rel(ours, theirs)
    found = verdict(key, accuracy=frame, longest=longest)
    assert found["ours"] == pytest.approx((ours - theirs).mean(), rel=1e-3)
    assert [found["low"], found["high"]] == pytest.approx(test.confidence_interval(), rel=1e-3)
    assert f"p = {test.pvalue:.2g}" in found["evidence"]
    assert (found["n"], found["unit"]) == (6, "pp")


def test_significantly_behind_at_one_length_leaves_a_gain_undecided():
    found = verdict("argmax", accuracy=shifted("argmax", "ln", -11, lengths=[64]))
    assert found["verdict"] == UNDECIDED
    assert found["low"] > 0
    assert found["evidence"].startswith("ahead at 2 of 3 lengths, significantly behind at 2^6")
    inside = shifted("argmax", "ln", -50, lengths=[16])  # a training length decides nothing
    assert verdict("argmax", accuracy=inside)["verdict"] == SUPPORTED


def test_equal_differences_say_why_there_is_no_test():
    equal = accuracy()
    beyond = equal["length"] > 16
    equal.loc[beyond, "accuracy"] = 0.5 + 0.1 * (equal["line"] == "ln")
    for key in ("argmax", "argmax-orthogonal", "ln-std-alike"):
        found = verdict(key, accuracy=equal)
        assert (found["verdict"], found["low"]) == (UNDECIDED, None)
        assert found["evidence"].endswith("all differences equal: no test")


def test_orthogonal_is_an_interaction_within_a_margin():
    # Table 1 at 64, 512 and 4096: 0.2, 1.9, 4.7 with the adaptive temperature, 0.2, 1.8, 5.0 without.
    alike = verdict("argmax-orthogonal")
    assert alike["paper"] == pytest.approx(-0.2 / 3, abs=1e-3)
    for by, expected in ((0.4, SUPPORTED), (1 - alike["ours"], UNDECIDED), (2.5, CONTRADICTED), (-2.5, CONTRADICTED)):
        found = verdict("argmax-orthogonal", accuracy=shifted("argmax", "ln", by, rules=("adaptive",)))
        assert found["verdict"] == expected
        assert found["ours"] == pytest.approx(alike["ours"] + by, abs=0.01)


def test_an_interaction_is_that_of_each_seed_and_a_wide_interval_says_so():
    frame = noisy(5).sample(frac=1, random_state=0)
    of = frame.query("task == 'dictionary' and length > 16")
    means = 100 * of.pivot_table(index="seed", columns=["rule", "line"], values="accuracy")
    gains = {name: means[name, "ln"] - means[name, "none"] for name in ("adaptive", "last")}
    expected = stats.ttest_rel(gains["adaptive"], gains["last"]).confidence_interval()
    found = verdict("dictionary-orthogonal", accuracy=frame)
    assert [found["low"], found["high"]] == pytest.approx(expected, rel=1e-3)
    assert found["verdict"] == UNDECIDED
    assert found["evidence"].endswith("the interval is wider than ±1")


@pytest.mark.parametrize("sign", [1, -1])
def test_nearer_compares_absolute_differences_whatever_their_signs(sign):
    """ln - std is 5 points on argmax, and 0, 3, 5 and 8 on dictionary, of either sign."""
    for apart, expected in ((0, SUPPORTED), (3, SUPPORTED), (5, UNDECIDED), (8, CONTRADICTED)):
        found = verdict("ln-std-alike", accuracy=shifted("dictionary", "ln", sign * apart))
        assert found["verdict"] == expected, apart
        assert found["ours"] == pytest.approx(5 - apart, abs=0.6)


def test_nearer_is_welchs_test_with_the_seeds_of_the_task_that_has_fewer():
    frame = noisy(3, line="ln").query("task != 'dictionary' or seed > 0")
    of = frame.query("rule == 'last' and length > 16")
    means = 100 * of.pivot_table(index="seed", columns=["task", "line"], values="accuracy")
    argmax, dictionary = ((means[task, "ln"] - means[task, "std"]).dropna() for task in ("argmax", "dictionary"))
    expected = stats.ttest_ind(argmax, dictionary * np.sign(dictionary.mean()), equal_var=False)
    found = verdict("ln-std-alike", accuracy=frame)
    assert [found["low"], found["high"]] == pytest.approx(expected.confidence_interval(), rel=1e-3)
    assert found["n"] == 7


def test_behind_is_corrected_for_the_number_of_lengths():
    """At 64 p is below 0.05 and above 0.05 / 3, at the others far above."""
    frame = accuracy().query("task == 'argmax' and rule == 'last' and line in ('none', 'ln')")
    level = (np.arange(8) % 2 - 0.5) / 100
    at_64 = np.array([-1, -1, -1, -1, -1, -1, 0.5, 1.2]) - 0.3
    assert 0.05 / 3 < stats.ttest_1samp(at_64, 0).pvalue < 0.05
    for by, expected in ((0, []), (-3, [64]), (3, [])):
        differences = {16: level, 64: (at_64 + by) / 100, 512: level, 4096: level}
        changed = frame.assign(accuracy=0.5)
        ln = changed["line"] == "ln"
        changed.loc[ln, "accuracy"] += [differences[of.length][of.seed] for of in changed[ln].itertuples()]
        arms = evidence(accuracy=changed).arms(ARGMAX)
        assert lengths_behind(arms.gains[[64, 512, 4096]]) == expected
