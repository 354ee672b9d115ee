from itertools import chain, combinations, permutations

import numpy as np
import pytest

from vanishing_variance.statistics.shapley import shapley


def subsets(pieces):
    return [frozenset(some) for some in chain.from_iterable(combinations(pieces, n) for n in range(len(pieces) + 1))]


@pytest.mark.parametrize("pieces", ["a", "abcd"])
def test_it_is_the_mean_gain_over_all_orders(pieces):
    rng = np.random.default_rng(0)
    values = {some: rng.normal(size=3) for some in subsets(pieces)}
    orders = list(permutations(pieces))
    expected = dict.fromkeys(pieces, np.zeros(3))
    for order in orders:
        for place, piece in enumerate(order):
            gain = values[frozenset(order[: place + 1])] - values[frozenset(order[:place])]
            expected[piece] = expected[piece] + gain / len(orders)
    found = shapley(values)
    assert list(found) == list(pieces)
    for piece in pieces:
        np.testing.assert_allclose(found[piece], expected[piece], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sum(found.values()), values[frozenset(pieces)] - values[frozenset()], rtol=1e-9)
