"""The adaptive temperature of Veličković et al. (2024): logits times beta = 1 / theta, a function of their entropy.

N items.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.device import device

SHARPEN_ABOVE = 0.5
# The columns of a polynomial's coefficients, by the power of the entropy.
POWERS = ("p4", "p3", "p2", "p1", "p0")


@dataclass(frozen=True)
class Temperature:
    """beta as a polynomial of the entropy in nats, highest power first.

    `lowest`, `highest`: the entropies between which it was fitted; outside them the nearest one's beta is taken.
    `mistakes`: the number of wrong answers that it was fitted to.
    """

    polynomial: tuple[float, ...]
    lowest: float = 0.0
    highest: float = float("inf")
    mistakes: int = 0

    def beta(self, entropy: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Return the factor of the logits at test time: max(1, polynomial(H)) where H > 0.5 nats, elsewhere 1.

        The polynomial is taken at H clamped to [lowest, highest].
        """
        clamped = entropy.clamp(self.lowest, self.highest)
        beta = torch.zeros_like(entropy)
        for coefficient in self.polynomial:
            beta = beta * clamped + coefficient
        return torch.where(entropy > SHARPEN_ABOVE, beta.clamp(min=1.0), 1.0)


# Section 5 of Veličković et al. There is no upper clamp; it peaks at 2.42 near 4.4 nats, and is below 1 above 5.94.
PUBLISHED = Temperature((-0.037, 0.481, -2.3, 4.917, -1.791))
# The plain softmax at every entropy.
UNCHANGED = Temperature((1.0,), 0.0, 0.0)


def halves(seeds: int) -> dict[str, slice]:
    """Return the places of a block's two halves, `first` and `second`; of one seed, the second is empty."""
    middle = (seeds + 1) // 2
    return {"first": slice(0, middle), "second": slice(middle, seeds)}


def chunks(seeds: int) -> Iterator[tuple[str, slice]]:
    """Yield the half and the places of models that are tested at once: on a CPU one, on a GPU a half of the block."""
    size = 1 if device().type == "cpu" else seeds
    for half, places in halves(seeds).items():
        for first in range(places.start, places.stop, size):
            yield half, slice(first, min(first + size, places.stop))


def frame(fitted: Mapping[str, Temperature]) -> pd.DataFrame:
    """Return a row a half of a block, with the temperature that it is tested with.

    Columns: half, mistakes, `lowest` and `highest` (nats), and the coefficient of each power of the entropy, p4 to p0.
    """
    rows = []
    for half, temperature in fitted.items():
        missing_powers = [0.0] * (len(POWERS) - len(temperature.polynomial))
        coefficients = *missing_powers, *temperature.polynomial
        rows.append((half, temperature.mistakes, temperature.lowest, temperature.highest, *coefficients))
    return pd.DataFrame(rows, columns=["half", "mistakes", "lowest", "highest", *POWERS])


def entropy(logits: Float[Tensor, "*any N"]) -> Float[Tensor, "*any"]:
    """Return the entropy of softmax(logits) over the items, in nats."""
    log_weights = torch.log_softmax(logits, dim=-1)
    return -(log_weights.exp() * log_weights).sum(-1)
