"""Power laws of Figure 1's standard deviations, of each component and of all that a layer shows."""

from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.statistics.power_law import power_law

ONE = ["strategy", "layer", "head", "component"]
POOLED = ["strategy", "layer"]


def pooled(deviations: pd.DataFrame) -> pd.DataFrame:
    """Return strategy, layer, length, deviation: the geometric mean over the heads and components that are shown."""
    logarithms = deviations.assign(deviation=np.log(deviations["deviation"]))
    means = logarithms.groupby([*POOLED, "length"], sort=False)["deviation"].mean().reset_index()
    return means.assign(deviation=np.exp(means["deviation"]))


def fits(deviations: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the fields of `PowerLaw` for each group `by` of a tidy frame with length and deviation."""
    rows = []
    for key, group in deviations.groupby(by, sort=False):
        law = power_law(group["length"].to_numpy(), group["deviation"].to_numpy())
        rows.append({**dict(zip(by, key, strict=True)), **vars(law)})
    return pd.DataFrame(rows)


def summary(laws: pd.DataFrame) -> dict[str, Any]:
    """Return, for `dvc metrics diff`, strategy -> layer -> exponent, and low and high where there is an interval.

    Layers are zero-padded because DVC sorts keys as text.
    """
    document: dict[str, Any] = {}
    for law in laws.to_dict("records"):
        numbers = {key: round(law[key], 4) for key in ("exponent", "low", "high") if pd.notna(law[key])}
        document.setdefault(law["strategy"], {})[f"layer_{law['layer']:03d}"] = numbers
    return document
