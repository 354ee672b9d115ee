import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from vanishing_variance.statistics.components import Components, components


def test_it_is_the_mean_squares_of_a_two_way_analysis_of_variance():
    rng = np.random.default_rng(0)
    cut = 0
    for _ in range(30):
        s, i = rng.integers(2, 7, 2)
        by_seed, by_sequence, both = rng.uniform(0, 1, 3)
        d = by_seed * rng.normal(size=(s, 1)) + by_sequence * rng.normal(size=(1, i)) + both * rng.normal(size=(s, i))
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
    assert 0 < cut < 30


def test_one_seed_one_sequence_and_equal_differences_have_no_shares():
    for shape in ((1, 9), (9, 1)):
        assert components(np.random.default_rng(0).normal(size=shape)) == Components()
    for value in (0.0, 0.1):
        assert components(np.full((3, 4), value)) == Components(se=0.0)
