"""The gain of a line at equal loss, by regression.

S seeds.
"""

import numpy as np
import pandas as pd

from vanishing_variance.results.compare.gains import columns
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.studies.results import LOSS

# Results have losses to 1e-6: the logarithm of smaller ones is rounding.
SMALLEST = 1e-5
VIEWS = ("at_baseline_loss", "at_own_loss")


def at_equal_loss(ours: pd.DataFrame, theirs: pd.DataFrame, longest: int) -> dict[str, float]:
    """Return the points beyond training that are left at equal log loss (`statistics.adjusted`), after the same steps.

    Both are results of one task and rule (`reading.by_rule`). Columns VIEWS; nothing without losses.
    """
    arms = [_models(results, longest) for results in (ours, theirs)]
    if any(arm.empty for arm in arms):
        return {}
    outcomes, losses = ([arm[name].to_numpy() for arm in arms] for name in ("beyond", "log_loss"))
    at_baseline, at_own = adjusted(*outcomes, *losses)
    return columns(VIEWS[0], at_baseline) | columns(VIEWS[1], at_own)


def _models(results: pd.DataFrame, longest: int) -> pd.DataFrame:
    """Return the models that have a loss: log of the loss, accuracy beyond training in percent.

    None where one is below SMALLEST.
    """
    beyond = results.reindex(columns=["seed", "length", "accuracy", LOSS]).dropna(subset=LOSS)
    beyond = beyond[beyond["length"] > longest]
    models = beyond.groupby("seed")[[LOSS, "accuracy"]].mean().astype(float)
    if (models[LOSS] < SMALLEST).any():
        models = models[:0]
    return pd.DataFrame({"log_loss": np.log(models[LOSS]), "beyond": 100 * models["accuracy"]})
