import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from vanishing_variance.statistics.components import Components, components


def drawn(rng, seeds, sequences, deviations=(1.0, 1.0, 1.0)):
    by_seed, by_sequence, both = deviations
    return (
        by_seed * rng.normal(size=(seeds, 1))
        + by_sequence * rng.normal(size=(1, sequences))
        + both * rng.normal(size=(seeds, sequences))
    )


def test_it_is_the_mean_squares_of_a_two_way_analysis_of_variance():
    rng = np.random.default_rng(0)
    cut = 0
    for _ in range(100):
        s, i = rng.integers(2, 7, 2)
        d = drawn(rng, s, i, rng.uniform(0, 1, 3))
        frame = pd.DataFrame({"d": d.ravel(), "seed": np.repeat(np.arange(s), i), "sequence": np.tile(np.arange(i), s)})
        table = anova_lm(ols("d ~ C(seed) + C(sequence)", frame).fit())
        by_seed, by_sequence, both = table["mean_sq"]
        seed, sequence = (by_seed - both) / i, (by_sequence - both) / s
        cut += min(seed, sequence) < 0
        parts = np.array([max(seed, 0) / s, max(sequence, 0) / i, both / (s * i)])
        found = components(d)
        assert found.se == pytest.approx(parts.sum() ** 0.5, rel=1e-9)
        shares = (found.share_seeds, found.share_sequences, found.share_both)
        assert shares == pytest.approx(tuple(parts / parts.sum()), rel=1e-9, abs=1e-9)
        assert sum(shares) == pytest.approx(1)
    assert 10 < cut < 90


def test_the_standard_error_is_how_much_the_mean_varies_and_the_t_tests_is_not():
    rng, (s, i), deviations = np.random.default_rng(0), (8, 40), (1.0, 3.0, 2.0)
    studies = [drawn(rng, s, i, deviations) for _ in range(2000)]
    found = [components(d) for d in studies]
    varies = np.std([d.mean() for d in studies])
    expected = np.array([1 / s, 9 / i, 4 / (s * i)])
    assert varies == pytest.approx(expected.sum() ** 0.5, rel=0.05)
    assert np.mean([one.se**2 for one in found]) ** 0.5 == pytest.approx(varies, rel=0.05)
    shares = np.array([[one.share_seeds, one.share_sequences, one.share_both] for one in found])
    parts = np.array([[one.se**2] for one in found]) * shares
    np.testing.assert_allclose(parts.mean(0), expected, rtol=0.05)
    over_seeds = np.mean([d.mean(1).var(ddof=1) / s for d in studies])
    assert over_seeds == pytest.approx(expected[0] + expected[2], rel=0.05)


def test_one_seed_one_sequence_and_equal_differences_have_no_shares():
    rng = np.random.default_rng(0)
    for shape in ((1, 9), (9, 1), (1, 1)):
        assert components(rng.normal(size=shape)) == Components()
    for value in (0.0, 0.1):
        assert components(np.full((3, 4), value)) == Components(se=0.0)


def test_differences_of_right_and_wrong_answers_may_be_whole_numbers():
    d = np.array([[1, 0, -1], [1, 0, 0]], dtype=np.int8)
    assert components(d) == components(d.astype(float))


@pytest.mark.parametrize("d", [[1.0, 2.0], [[]], [[1.0, np.nan], [0.0, 1.0]]])
@pytest.mark.usefixtures("unchecked")
def test_what_is_not_differences_is_refused(d):
    with pytest.raises(ValueError, match="components needs finite numbers"):
        components(np.array(d))
