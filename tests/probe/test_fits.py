import numpy as np
import pandas as pd
import pytest

from vanishing_variance.probe.fits import ONE, POOLED, fits, pooled, summary
from vanishing_variance.statistics.power_law import power_law

LENGTHS = np.array([16, 64, 256])


def frame(lengths=LENGTHS):
    """Components that decay as N^-0.4 and N^-0.6, of two layers, the second twice the first."""
    rows = [
        {"strategy": name, "layer": layer, "head": 0, "component": c, "length": n, "n": 9, "deviation": layer * 2 * law}
        for name in ("random_no_pe", "sentences_pe")
        for layer in (1, 12)
        for c, exponent in enumerate((-0.4, -0.6))
        for n, law in zip(lengths, lengths**exponent, strict=True)
    ]
    return pd.DataFrame(rows)


def test_each_component_has_its_own_law_and_a_layer_that_of_the_geometric_mean():
    each = fits(frame(), ONE)
    assert len(each) == 8
    assert list(each["exponent"]) == pytest.approx([-0.4, -0.6] * 4)
    means = pooled(frame())
    of = means.query("strategy == 'sentences_pe' and layer == 12")
    np.testing.assert_allclose(of["deviation"], 24 * LENGTHS**-0.5)
    laws = fits(means, POOLED)
    assert list(laws["exponent"]) == pytest.approx([-0.5] * 4)
    noisy = frame().assign(deviation=lambda all: all["deviation"] * np.random.default_rng(0).uniform(1, 2, len(all)))
    first = fits(pooled(noisy), POOLED).iloc[0]
    law = power_law(LENGTHS, np.exp(np.log(noisy["deviation"].to_numpy()[:6].reshape(2, 3)).mean(0)))
    assert (first["exponent"], first["low"], first["high"]) == pytest.approx((law.exponent, law.low, law.high))


def test_metrics_are_small_and_finite():
    numbers = summary(fits(pooled(frame()), POOLED))
    assert list(numbers) == ["random_no_pe", "sentences_pe"]
    assert list(numbers["random_no_pe"]) == ["layer_001", "layer_012"]
    assert numbers["random_no_pe"]["layer_012"] == {"exponent": -0.5, "low": -0.5, "high": -0.5}
    two = summary(fits(pooled(frame(LENGTHS[:2])), POOLED))
    assert two["sentences_pe"] == {"layer_001": {"exponent": -0.5}, "layer_012": {"exponent": -0.5}}
