"""The adaptive temperature of Veličković et al. (2024): logits times beta = 1 / theta, a function of their entropy.

N items.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

SHARPEN_ABOVE = 0.5
HALVES = ["first", "second"]
# The columns of a polynomial's coefficients, by the power of the entropy.
POWERS = ("p4", "p3", "p2", "p1", "p0")


@dataclass(frozen=True)
class Temperature:
    """beta as a polynomial of the entropy in nats, highest power first.

    Outside the entropies that a polynomial was fitted to it says nothing: there the nearest one's beta is taken.
    """

    polynomial: tuple[float, ...]
    lowest: float = 0.0
    highest: float = float("inf")

    def beta(self, entropy: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Return the factor of the logits at test time: max(1, polynomial(H)) where H > 0.5 nats, elsewhere 1.

        The polynomial is taken at H clamped to [lowest, highest].
        """
        fitted = entropy.clamp(self.lowest, self.highest)
        beta = torch.zeros_like(entropy)
        for coefficient in self.polynomial:
            beta = beta * fitted + coefficient
        return torch.where(entropy > SHARPEN_ABOVE, beta.clamp(min=1.0), torch.ones_like(beta))


# Section 5 of Veličković et al. There is no upper clamp; it peaks at 2.42 near 4.4 nats, and is below 1 above 5.94.
PUBLISHED = Temperature((-0.037, 0.481, -2.3, 4.917, -1.791))
# The plain softmax at every entropy.
UNCHANGED = Temperature((1.0,), 0.0, 0.0)


def halves(seeds: int) -> dict[str, slice]:
    """Return the places of a block's two halves, `first` and `second`; of one seed, the second is empty."""
    middle = (seeds + 1) // 2
    return dict(zip(HALVES, (slice(0, middle), slice(middle, seeds)), strict=True))


def frame(fits: Mapping[str, tuple[Temperature, int]]) -> pd.DataFrame:
    """Return the temperatures of a block's halves, each with the number of mistakes of the other half that it fits.

    Columns: half, mistakes, `lowest` and `highest`, the entropies (nats) between which they lay, and the coefficient
    of each power of the entropy, p4 to p0.
    """
    rows = []
    for half, (fitted, mistakes) in fits.items():
        powers = dict(zip(POWERS, (*[0.0] * (len(POWERS) - len(fitted.polynomial)), *fitted.polynomial), strict=True))
        rows.append({"half": half, "mistakes": mistakes, "lowest": fitted.lowest, "highest": fitted.highest, **powers})
    return pd.DataFrame(rows)


def entropy(logits: Float[Tensor, "*any N"]) -> Float[Tensor, "*any"]:
    """Return the entropy of softmax(logits) over the items, in nats."""
    log_weights = torch.log_softmax(logits, dim=-1)
    return -(log_weights.exp() * log_weights).sum(-1)
