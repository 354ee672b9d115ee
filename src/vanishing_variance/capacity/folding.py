"""A trained `ln` model written as a `std` model, whose normaliser has no parameters (Section 3.2).

S seeds, D width.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float


def folded(weights: Mapping[str, Float[np.ndarray, "S ..."]]) -> dict[str, Float[np.ndarray, "S ..."]]:
    """Return the weights of `std` models that are the same functions as `ln` models with these weights.

    gamma scales the columns of W_O; what beta becomes behind W_O and the head's first layer is added to that layer's
    bias. In exact arithmetic the class logits are equal: layer normalisation has no more capacity here. Computed in
    double precision and returned in the precision of the weights.
    """
    double = {name: array.astype(np.float64) for name, array in weights.items()}
    gamma, beta = double.pop("norm.scale"), double.pop("norm.shift")
    projected = np.einsum("soi,si->so", double["attention.output"], beta)
    double["head.0.bias"] = double["head.0.bias"] + np.einsum("soi,si->so", double["head.0.weight"], projected)
    double["attention.output"] = double["attention.output"] * gamma[:, None, :]
    return {name: array.astype(weights[name].dtype) for name, array in double.items()}
