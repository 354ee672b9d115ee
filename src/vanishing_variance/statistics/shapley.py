"""Shapley values: what each of several pieces brings to what all bring together.

S seeds.
"""

from collections.abc import Mapping
from itertools import combinations

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
            gains = []
            for added in combinations(others, size):
                before = frozenset(added)
                gains.append(values[before | {piece}] - values[before])
            by_size.append(np.mean(gains, axis=0))
        shares[piece] = np.mean(by_size, axis=0)
    return shares
