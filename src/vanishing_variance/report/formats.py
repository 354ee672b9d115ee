"""Formats of numbers on the page: a missing one is a dash, a minus is a minus sign, powers are raised."""

import math
import re

from markupsafe import Markup, escape

from vanishing_variance.harness import markdown

MISSING = markdown.MISSING
_POWER = re.compile(r"\^([-−]?\d+(?:\.\d+)?)")


def number(value: float | None, how: str) -> str:
    """Return a number in Python's format `how`; what is zero when rounded has no sign."""
    if value is None or math.isnan(value):
        return MISSING
    text = format(value, how)
    return text.lstrip("+-") if float(text.removesuffix("%")) == 0 else text.replace("-", "−")


def interval(low: float | None, high: float | None, how: str) -> str:
    """Return both ends of an interval, or a dash where either is missing."""
    ends = number(low, how), number(high, how)
    return MISSING if MISSING in ends else ", ".join(ends)


def beside(size: str, paper: str) -> str:
    """Return the paper's number as it stands behind ours, after the size of ours where that is judged."""
    if size:
        return f", {size} {paper}".rstrip()
    return f"; the paper: {paper}" if paper else ""


def raised(text: str) -> Markup:
    """Return a text as HTML, with 2^14 and N^-1 as powers."""
    return Markup(_POWER.sub(lambda found: f"<sup>{found[1].replace('-', '−')}</sup>", escape(text)))  # noqa: S704
