import numpy as np
import pandas as pd
import pytest

from vanishing_variance.probe.fits import ONE, POOLED, fits, pooled, summary
from vanishing_variance.statistics.power_law import power_law

LENGTHS = np.array([16, 64, 256])


def frame(lengths=LENGTHS):
    """Return components that decay as N^-0.4 and N^-0.6, of two layers, the second twelve times the first."""
    parts = []
    for layer in (1, 12):
        for component, exponent in enumerate((-0.4, -0.6)):
            part = pd.DataFrame({"length": lengths, "deviation": layer * lengths**exponent})
            parts.append(part.assign(strategy="random_pe", layer=layer, head=0, component=component))
    return pd.concat(parts, ignore_index=True)


def test_each_component_has_its_own_law():
    assert fits(frame(), ONE)["exponent"].tolist() == pytest.approx([-0.4, -0.6] * 2)


def test_a_layer_has_the_law_of_the_geometric_mean():
    noisy = frame()
    noisy["deviation"] *= np.random.default_rng(0).uniform(1, 2, len(noisy))
    first, second = noisy["deviation"][:3].to_numpy(), noisy["deviation"][3:6].to_numpy()
    mean = np.sqrt(first * second)
    np.testing.assert_allclose(pooled(noisy)["deviation"][:3], mean)
    law = power_law(LENGTHS, mean)
    found = fits(pooled(noisy), POOLED).loc[0, ["exponent", "low", "high"]]
    assert found.tolist() == pytest.approx([law.exponent, law.low, law.high])


def test_metrics_have_an_interval_where_there_are_three_lengths():
    three = summary(fits(pooled(frame()), POOLED))["random_pe"]
    assert list(three) == ["layer_001", "layer_012"]
    assert three["layer_012"] == {"exponent": -0.5, "low": -0.5, "high": -0.5}
    two = summary(fits(pooled(frame(LENGTHS[:2])), POOLED))["random_pe"]
    assert two["layer_012"] == {"exponent": -0.5}
