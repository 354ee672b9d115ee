"""How a variant looks and is called, the same in every figure and on the page."""

from typing import Any

import pandas as pd

# Colour, line style and marker. The colours are of the palette of Okabe and Ito (2008), which is colour-blind-safe.
_NORMS = {
    **{"none": ("#000000", "-", "o"), "ln": ("#0072B2", "--", "s")},
    **{"std": ("#D55E00", "-.", "^"), "rms": ("#009E73", ":", "D")},
}
_OTHER = ("#AA4499", (0, (4, 1, 1, 1, 1, 1)), "v")
# What a normaliser makes of O, in the notation of the paper where it has one.
_NORMALISED = {"ln": "LayerNorm(O)", "std": "Standardize(O)", "rms": "RMSNorm(O)"}


def colour(norm: str) -> str:
    """Return the colour of a variant, the same in every figure; a normaliser that has none is purple."""
    return _NORMS.get(norm, _OTHER)[0]


def look(norm: str) -> dict[str, Any]:
    """Return colour, line style and marker of a variant, the same in every figure: they differ in black and white."""
    return dict(zip(("color", "linestyle", "marker"), _NORMS.get(norm, _OTHER), strict=True))


def label(norm: str) -> str:
    """Return the name of a variant in a legend."""
    return "none" if norm == "none" else f"+ {norm}"


def seeds(n: pd.Series) -> str:
    """Return how many seeds variants have: one number, or the fewest and the most."""
    return str(n.min()) if n.min() == n.max() else f"{n.min()} to {n.max()}"


def roles(of: pd.DataFrame, x: str, y: str, norm: str) -> pd.DataFrame:
    """Return, for DVC's plots, a column a role: x, and the mean y of `none` and of the treatment `norm`."""
    wide = of.pivot_table(index=x, columns="norm", values=y).rename(columns={norm: "norm"})
    return wide[["none", "norm"]].reset_index()


def normalised(norm: str) -> str:
    """Return the name of the normalised attention outputs."""
    return _NORMALISED.get(norm, f"{norm}(O)")
