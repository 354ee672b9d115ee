"""Looks and names of the variants, the same in every figure."""

from typing import Any

import pandas as pd

from vanishing_variance.figures import style
from vanishing_variance.results.runs import line_of, range_of

# The colours are of the palette of Okabe and Ito (2008), which is colour-blind-safe.
_LOOKS = {
    "none": style.look("#000000", "-", "o"),
    "ln": style.look("#0072B2", "--", "s"),
    "std": style.look("#D55E00", "-.", "^"),
    "rms": style.look("#009E73", ":", "D"),
}
_OTHER = style.look("#AA4499", (0, (4, 1, 1, 1, 1, 1)), "v")
# Normalised O, in the notation of the paper where it has one.
_NORMALISED = {"ln": "LayerNorm(O)", "std": "Standardize(O)", "rms": "RMSNorm(O)"}


def look(norm: str) -> dict[str, Any]:
    """Return colour, line style and marker, which differ in black and white too; any other normaliser is purple."""
    return _LOOKS.get(norm, _OTHER)


def label(norm: str) -> str:
    """Return the name of a variant in a legend."""
    return "none" if norm == "none" else f"+ {norm}"


def normalised(norm: str) -> str:
    """Return the name of the normalised attention outputs."""
    return _NORMALISED.get(norm, f"{norm}(O)")


def seeds(n: pd.Series) -> str:
    """Return the number of seeds of variants: one number, or the fewest and the most."""
    return str(n.min()) if n.min() == n.max() else f"{n.min()} to {n.max()}"


def roles(means: pd.DataFrame, x: str, y: str, line: str) -> pd.DataFrame:
    """Return, for DVC's plots, a column a role: x, and the mean y of `none` and of the treatment, a line, as `norm`."""
    wide = means.pivot_table(index=x, columns="line", values=y)
    untreated = line_of("none", range_of(line))
    return wide[[untreated, line]].set_axis(["none", "norm"], axis=1).reset_index()
