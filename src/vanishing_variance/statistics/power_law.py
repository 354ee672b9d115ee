"""Power laws of what is measured against the length.

L lengths.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Real
from scipy import stats

from vanishing_variance.statistics.intervals import CONFIDENCE


@dataclass(frozen=True)
class PowerLaw:
    """values = scale * lengths^exponent, with the 95% t interval of the exponent (NaN where two points leave none)."""

    exponent: float
    low: float
    high: float
    scale: float


def power_law(lengths: Real[np.ndarray, " L"], values: Real[np.ndarray, " L"]) -> PowerLaw:
    """Return the least-squares line through (log lengths, log values), by scipy.

    Raises ValueError when there are fewer than two lengths, or a value that is not positive and finite.
    """
    values = np.asarray(values, dtype=float)
    if len(set(lengths)) < 2 or len(lengths) != len(values):
        raise ValueError(f"power_law needs a value at each of two lengths or more, not {values.shape} at {lengths}")
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError("power_law needs positive finite values")
    line = stats.linregress(np.log(lengths), np.log(values))
    slope, scale = float(line.slope), float(np.exp(line.intercept))
    margin = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 2)) * float(line.stderr)
    return PowerLaw(slope, slope - margin, slope + margin, scale)
