import numpy as np
import pytest

from vanishing_variance.statistics.robust import iqm_gain, probability_of_improvement


def rng(seed=0):
    return np.random.default_rng(seed)


def written_out_iqm_gain(treatment, baseline):
    """By rliable's definition: the mean of the seeds between the quarters that are cut, of each arm."""
    means = []
    for arm in (treatment, baseline):
        cut = len(arm) // 4
        means.append(np.sort(arm)[cut : len(arm) - cut].mean())
    return means[0] - means[1]


def written_out_improvement(treatment, baseline):
    """By rliable's definition: the mean over all pairs of 1, 1/2 or 0."""
    above = treatment[:, None] > baseline
    equal = treatment[:, None] == baseline
    return (above + equal / 2).mean()


@pytest.mark.parametrize(
    ("function", "definition"),
    [(iqm_gain, written_out_iqm_gain), (probability_of_improvement, written_out_improvement)],
)
def test_value_and_interval_are_those_of_the_definition(function, definition):
    """The ends agree with those of resamples drawn here, up to the chance of 9,999."""
    for seed, sizes in enumerate([(8, 8), (16, 13), (40, 40)]):
        draw = rng(seed)
        treatment, baseline = (np.round(draw.normal(mean, 2, n), 1) for mean, n in zip((1, 0), sizes, strict=True))
        value, low, high = function(treatment, baseline, rng(seed))
        assert value == pytest.approx(definition(treatment, baseline))
        resampled = [
            definition(draw.choice(treatment, len(treatment)), draw.choice(baseline, len(baseline)))
            for _ in range(10_000)
        ]
        assert (low, high) == pytest.approx(tuple(np.quantile(resampled, [0.025, 0.975])), abs=0.05 * np.ptp(resampled))
