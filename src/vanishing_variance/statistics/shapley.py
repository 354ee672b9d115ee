"""Shapley values: what each of several pieces brings to what all bring together.

S seeds.
"""

from collections.abc import Mapping
from itertools import combinations
from math import comb

import numpy as np
from jaxtyping import Float


def shapley(values: Mapping[frozenset[str], Float[np.ndarray, " S"]]) -> dict[str, Float[np.ndarray, " S"]]:
    """Return for each piece and seed its gain, the mean over all orders in which the pieces can be added.

    `values`: of every set of pieces, the empty one included. The gains add up to the value of all pieces minus that of
    none. Raises KeyError where a set is missing.

    Source: Shapley (1953), A value for n-person games.
    """
    pieces = sorted(frozenset().union(*values))
    shares = {}
    for piece in pieces:
        others = [other for other in pieces if other != piece]
        by_size = []
        for size in range(len(pieces)):
            sets = [frozenset(some) for some in combinations(others, size)]
            gains = [values[some | {piece}] - values[some] for some in sets]
            by_size.append(np.sum(gains, axis=0) / comb(len(others), size))
        shares[piece] = sum(by_size) / len(pieces)
    return shares
