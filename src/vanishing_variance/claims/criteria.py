"""Criteria that decide claims: functions from what was measured to a verdict; in words in words.yaml."""

from collections.abc import Callable

from vanishing_variance.claims.paper import Ends, Measured
from vanishing_variance.claims.verdict import CONTRADICTED, SUPPORTED, UNDECIDED

HALF = 0.5
# Percentage points: a third to a half of the gains of Tables 1 and 2, whose own differences of gains are 0.2 and 0.4.
MARGIN = 1.0
# The slope of a standard deviation that falls as the square root of N.
SLOPE = -0.5
# Percent: a loss that falls as 1/steps falls by 11 from one tenth of the training to the next, the last.
STILL_FALLING = 5.0


def decided(supported: bool, contradicted: bool) -> str:
    """Return the verdict: undecided where neither holds, as where numbers are missing."""
    if supported:
        return SUPPORTED
    return CONTRADICTED if contradicted else UNDECIDED


def side(low: float, high: float) -> str:
    """Return supported where the 95% interval is above 0, contradicted where it is below, else undecided."""
    return decided(bool(low > 0), bool(high < 0))


def sides(intervals: Ends) -> set[str]:
    """Return the sides of 0 that intervals are on."""
    return {side(low, high) for low, high in intervals}


def margins(measured: Measured) -> tuple[float, float]:
    """Return the least margin that holds an interval, and the largest that it is outside of; below 0 if it holds 0."""
    return max(-measured.low, measured.high), max(measured.low, -measured.high)


def within_margin(measured: Measured) -> str:
    """Decide whether the interval is within ±MARGIN, or wholly outside."""
    supported_above, contradicted_below = margins(measured)
    return decided(supported_above < MARGIN, contradicted_below > MARGIN)


def one_above_zero(intervals: Ends) -> str:
    """Decide whether one interval is above 0, or all are below."""
    found = sides(intervals)
    return decided(SUPPORTED in found, found == {CONTRADICTED})


def all_above_zero(intervals: Ends) -> str:
    """Decide whether all intervals are above 0, or one is below."""
    found = sides(intervals)
    return decided(found == {SUPPORTED}, CONTRADICTED in found)


def ahead(measured: Measured) -> str:
    """Return the side of 0, but undecided for a gain that is a loss in a part."""
    verdict = side(measured.low, measured.high)
    return UNDECIDED if verdict == SUPPORTED and CONTRADICTED in measured.parts.values() else verdict


def attributed(measured: Measured) -> str:
    """Decide whether the moments, or a read-out that they explain, are what improves the accuracy."""
    moments, read_out = measured.parts.values()
    found = sides(measured.intervals)
    by_read_out = read_out == SUPPORTED and SUPPORTED in found
    return decided(moments == SUPPORTED or by_read_out, moments == CONTRADICTED and found == {CONTRADICTED})


def near_slope(measured: Measured) -> str:
    """Decide whether the mean is near SLOPE, or no interval holds it."""
    return decided(abs(measured.ours - SLOPE) <= 0.1, UNDECIDED not in sides(measured.intervals - SLOPE))


CRITERIA: dict[str, Callable[[Measured], str]] = {
    "above 0": lambda measured: side(measured.low, measured.high),
    "ahead": ahead,
    "within ±1": within_margin,
    "one above half": lambda measured: one_above_zero(measured.intervals - HALF),
    "all above half": lambda measured: all_above_zero(measured.intervals - HALF),
    "attributed": attributed,
    "near −0.5": near_slope,
    "95% in each": lambda measured: decided(measured.ours >= 95, measured.ours < 50),
    "all in each": lambda measured: decided(measured.ours >= 100, measured.ours < 50),
    "below 5%": lambda measured: side(STILL_FALLING - measured.high, STILL_FALLING - measured.low),
    "argued": lambda measured: UNDECIDED,
}
