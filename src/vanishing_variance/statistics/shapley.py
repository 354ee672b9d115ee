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
    found = {}
    for piece in pieces:
        others = [other for other in pieces if other != piece]
        by_size = [
            [values[frozenset(before) | {piece}] - values[frozenset(before)] for before in combinations(others, size)]
            for size in range(len(pieces))
        ]
        found[piece] = sum(np.sum(of, axis=0) / comb(len(others), size) for size, of in enumerate(by_size))
        found[piece] /= len(pieces)
    return found
