"""Power laws of what is measured against the length.

L lengths, three or more.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Real
from scipy import stats

from vanishing_variance.statistics.intervals import CONFIDENCE


@dataclass(frozen=True)
class PowerLaw:
    """values = scale * lengths^exponent, with the 95% t interval of the exponent."""

    exponent: float
    low: float
    high: float
    scale: float


def power_law(lengths: Real[np.ndarray, " L"], values: Real[np.ndarray, " L"]) -> PowerLaw:
    """Return the least-squares line through (log lengths, log values), by scipy.

    Raises ValueError where a value is not positive and finite.
    """
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError("power_law needs positive finite values")
    line = stats.linregress(np.log(lengths), np.log(values))
    slope = float(line.slope)
    t = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 2))
    margin = t * float(line.stderr)
    scale = float(np.exp(line.intercept))
    return PowerLaw(slope, slope - margin, slope + margin, scale)
