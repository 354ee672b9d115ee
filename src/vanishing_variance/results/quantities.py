"""Quantities inside a model that may explain its accuracy, and the groups of models within which they may."""

from collections.abc import Callable

import numpy as np
import pandas as pd


def drift(of: pd.DataFrame) -> pd.Series:
    """Return the squared drift of the global mean of normalised O from that at the training lengths, in variances.

    Less its sampling error: where nothing drifts, means of finitely many sequences differ all the same.
    """
    moved = (of["mean_after"] - of["trained_mean_after"]) ** 2
    moved = moved - of["mean_se_after"] ** 2 - of["trained_mean_se_after"] ** 2
    return moved / of["trained_variance_after"]


# By name: its title, of which MEANINGS says more, and how it is computed from the columns of `beside_accuracy`. What
# the paper holds responsible is the shift of O that the layers above read, normalised; its rival is where attention is.
QUANTITIES: dict[str, tuple[str, Callable[[pd.DataFrame], pd.Series]]] = {
    "target": ("attention on the target item", lambda of: of["target"]),
    "largest": ("largest attention weight", lambda of: of["largest"]),
    "entropy": ("entropy of attention (nats)", lambda of: of["entropy"]),
    "variance_before": (
        "global variance of O",
        lambda of: (of["variance_before"] / of["trained_variance_before"]).map(np.log),
    ),
    "variance_after": (
        "global variance of normalised O",
        lambda of: (of["variance_after"] / of["trained_variance_after"]).map(np.log),
    ),
    "drift_after": ("drift of the global mean of normalised O", drift),
    "shift_before": ("Wasserstein shift of O", lambda of: of["shift_before"]),
    "shift_after": ("Wasserstein shift of normalised O", lambda of: of["shift_after"]),
}

MEANINGS = (
    "Normalised O is what the layers above read: O itself in models without a normaliser. All of O is relative to the "
    "training lengths: the variance as the logarithm of the ratio; the drift squared, in units of the variance; the "
    "Wasserstein shift as the mean over features of the distance in standard deviations."
)

# What is compared with what: models of the same normaliser and length; of any normaliser, at the same length; and the
# same model at different lengths. Each has the columns whose means are taken off (fixed effects).
GROUPINGS = {
    "between seeds": ("norm", "length"),
    "between models": ("length",),
    "across lengths": ("norm", "seed"),
}
