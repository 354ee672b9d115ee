import numpy as np
import pandas as pd
import pytest

from vanishing_variance.probe.fits import ONE, POOLED, fits, pooled, summary
from vanishing_variance.statistics.power_law import power_law

LENGTHS = np.array([16, 64, 256])


def frame(lengths=LENGTHS):
    """Components that decay as N^-0.4 and N^-0.6, of two layers, the second twelve times the first."""
    rows = [
        {"strategy": "random_pe", "layer": layer, "head": 0, "component": c, "length": n, "deviation": layer * law}
        for layer in (1, 12)
        for c, exponent in enumerate((-0.4, -0.6))
        for n, law in zip(lengths, lengths**exponent, strict=True)
    ]
    return pd.DataFrame(rows)


def test_each_component_has_its_own_law_and_a_layer_that_of_the_geometric_mean():
    assert list(fits(frame(), ONE)["exponent"]) == pytest.approx([-0.4, -0.6] * 2)
    np.testing.assert_allclose(pooled(frame())["deviation"], [*LENGTHS**-0.5, *12 * LENGTHS**-0.5])
    noisy = frame()
    noisy["deviation"] *= np.random.default_rng(0).uniform(1, 2, len(noisy))
    first = fits(pooled(noisy), POOLED).iloc[0]
    law = power_law(LENGTHS, np.exp(np.log(noisy["deviation"].to_numpy()[:6].reshape(2, 3)).mean(0)))
    assert (first["exponent"], first["low"], first["high"]) == pytest.approx((law.exponent, law.low, law.high))


def test_metrics_have_an_interval_where_there_are_three_lengths():
    one = {"exponent": -0.5, "low": -0.5, "high": -0.5}
    assert summary(fits(pooled(frame()), POOLED)) == {"random_pe": {"layer_001": one, "layer_012": one}}
    two = summary(fits(pooled(frame(LENGTHS[:2])), POOLED))
    assert two["random_pe"]["layer_012"] == {"exponent": -0.5}
