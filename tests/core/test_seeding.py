import numpy as np
from scipy import stats

from vanishing_variance.core.seeding import stream


def test_a_name_always_gives_the_same_numbers():
    assert stream(0, "train", "argmax", 3, 7).integers(10**9, size=3).tolist() == [57254211, 906257220, 563754561]


def test_every_part_of_a_name_counts():
    names = [(0, "a", 1), (1, "a", 1), (0, "b", 1), (0, "a", 2), (0, "a", "1"), (0, "a1"), (0, "a", 1, 0)]
    assert len({stream(*name).integers(2**63) for name in names}) == len(names)


def test_streams_of_neighbouring_names_are_uncorrelated():
    draws = np.stack([stream(0, "initial", "argmax", seed, "query.0.weight").random(2000) for seed in range(8)])
    correlations = np.corrcoef(draws)[np.triu_indices(8, 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(2000)
    assert stats.kstest(draws.ravel(), "uniform").pvalue > 1e-4
