import numpy as np
from statsmodels.stats.multitest import multipletests

from vanishing_variance.statistics.holm import holm


def test_it_is_statsmodels_holm(monkeypatch):
    monkeypatch.setattr("gc.collect", lambda: 0)  # which it calls each time, and is slow among many modules
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.uniform(size=rng.integers(1, 15)) ** 3
        p[rng.integers(0, len(p))] = rng.choice([0, 1, p[0]])
        np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-9, atol=0)


def test_a_test_that_was_not_made_does_not_count():
    p = np.array([np.nan, 0.01, np.nan, 0.04])
    np.testing.assert_array_equal(holm(p), [np.nan, 0.02, np.nan, 0.04])
    assert np.isnan(holm(np.full(3, np.nan))).all()
    assert holm(np.array([])).shape == (0,)
    np.testing.assert_array_equal(p, [np.nan, 0.01, np.nan, 0.04])
