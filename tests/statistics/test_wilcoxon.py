from itertools import product

import numpy as np
import pytest
from scipy import stats

from vanishing_variance.statistics.wilcoxon import wilcoxon


def enumerated(differences):
    """The share of all signs whose rank sum is as far from its mean, each as probable as the others."""
    left = differences[differences != 0]
    ranks = stats.rankdata(np.abs(left))
    sums = np.array(list(product([0, 1], repeat=len(left)))) @ ranks
    middle = ranks.sum() / 2
    return np.mean(np.abs(sums - middle) >= abs(ranks[left > 0].sum() - middle) - 1e-9)


def test_it_is_the_share_of_all_signs_with_ties_and_zeros():
    """Scipy's is not exact with ties from 14 differences on."""
    rng = np.random.default_rng(0)
    for n in (*range(2, 12), *range(2, 12), 15):
        differences = rng.integers(-3, 6, n).astype(float)
        differences[0] = 1
        assert wilcoxon(differences) == pytest.approx(enumerated(differences), rel=1e-9)


def test_without_ties_it_is_scipys_exact_test():
    for n in (8, 9, 50, 51, 200):
        differences = np.random.default_rng(n).normal(0.2, 1, n)
        assert wilcoxon(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue, rel=1e-9)


def test_many_differences_have_the_corrected_normal_approximation():
    differences = np.random.default_rng(0).integers(-9, 11, 230).astype(float)
    left = differences[differences != 0]
    n, ranks = len(left), stats.rankdata(np.abs(left))
    assert 200 < n < 230
    _, ties = np.unique(np.abs(left), return_counts=True)
    deviation = ((n * (n + 1) * (2 * n + 1) - (ties**3 - ties).sum() / 2) / 24) ** 0.5
    z = (abs(ranks[left > 0].sum() - n * (n + 1) / 4) - 0.5) / deviation
    assert wilcoxon(differences) == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)


def test_eight_seeds_cannot_go_below_two_of_256():
    assert wilcoxon(np.arange(1.0, 9)) == wilcoxon(np.full(8, 1e9)) == 2 / 256
    assert wilcoxon(-np.arange(1.0, 9)) == 2 / 256
    assert wilcoxon(np.arange(8.0)) == 2 / 128


def test_numbers_within_a_distance_are_tied_or_zero():
    assert wilcoxon(np.array([1.0, -1.001, 2, 0.001]), 0.01) == wilcoxon(np.array([1.0, -1, 2, 0])) == 0.75
    assert wilcoxon(np.array([1.0, -1.001, 2, 0.001])) == 0.625
    assert np.isnan(wilcoxon(np.zeros(8)))
