"""The gain of a line at equal loss, by regression.

S seeds.
"""

import numpy as np
import pandas as pd

from vanishing_variance.results.compare.gains import columns
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.studies.results import LOSS

VIEWS = ("at_baseline_loss", "at_own_loss")


def at_equal_loss(ours: pd.DataFrame, theirs: pd.DataFrame, longest: int) -> dict[str, float]:
    """Return the points beyond training that are left at equal log loss (`statistics.adjusted`), after the same steps.

    Both are results of one task and rule (`reading.by_rule`). Columns VIEWS; nothing without losses.
    """
    our_models, their_models = _models(ours, longest), _models(theirs, longest)
    if our_models.empty or their_models.empty:
        return {}
    outcomes = [models["beyond"].to_numpy() for models in (our_models, their_models)]
    losses = [models["log_loss"].to_numpy() for models in (our_models, their_models)]
    at_baseline, at_own = adjusted(*outcomes, *losses)
    return columns(VIEWS[0], at_baseline) | columns(VIEWS[1], at_own)


def _models(results: pd.DataFrame, longest: int) -> pd.DataFrame:
    """Return the models that have a loss: seed, log of the loss, accuracy beyond training in percent.

    None where one is 0 in single precision, which has no logarithm.
    """
    beyond = results.reindex(columns=["seed", "length", "accuracy", LOSS]).dropna(subset=LOSS)
    beyond = beyond[beyond["length"] > longest]
    models = beyond.groupby("seed", as_index=False)[[LOSS, "accuracy"]].mean()
    losses = models[LOSS].astype(float)
    if not (losses > 0).all():
        models, losses = models[:0], losses[:0]
    log_loss = np.log(losses)
    return models.assign(log_loss=log_loss, beyond=100 * models["accuracy"])
