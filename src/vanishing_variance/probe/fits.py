"""Power laws of Figure 1's standard deviations, of each feature and of all that a layer shows."""

from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.statistics.power_law import power_law

ONE = ["strategy", "place", "layer", "feature"]
POOLED = ["strategy", "place", "layer"]


def pooled(deviations: pd.DataFrame) -> pd.DataFrame:
    """Return strategy, place, layer, length, deviation: the geometric mean over the features that are shown."""
    logarithms = deviations.assign(deviation=np.log(deviations["deviation"]))
    groups = logarithms.groupby([*POOLED, "length"], sort=False)
    means = groups["deviation"].mean().map(np.exp)
    return means.reset_index()


def fits(deviations: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the fields of `PowerLaw` for each group `by` of a tidy frame with length and deviation."""
    laws = {}
    for key, group in deviations.groupby(by, sort=False):
        law = power_law(group["length"].to_numpy(), group["deviation"].to_numpy())
        laws[key] = vars(law)
    return pd.DataFrame.from_dict(laws, "index").rename_axis(by).reset_index()


def summary(laws: pd.DataFrame) -> dict[str, Any]:
    """Return, for `dvc metrics diff`, strategy -> place -> layer -> exponent, and low and high of its interval.

    Layers are zero-padded because DVC sorts keys as text.
    """
    document: dict[str, Any] = {}
    for law in laws.to_dict("records"):
        layers = document.setdefault(law["strategy"], {}).setdefault(law["place"], {})
        numbers = {name: round(law[name], 4) for name in ("exponent", "low", "high")}
        layers[f"layer_{law['layer']:03d}"] = numbers
    return document
