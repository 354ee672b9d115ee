"""Quantities inside a model that may explain its accuracy, and the groups of models within which they may."""

from collections.abc import Callable
from operator import itemgetter

import numpy as np
import pandas as pd


def drift(models: pd.DataFrame) -> pd.Series:
    """Return the squared drift of the global mean of normalised O from that at the training lengths, in variances.

    Less its sampling error: where nothing drifts, means of finitely many sequences differ all the same.
    """
    moved = (models["mean_after"] - models["trained_mean_after"]) ** 2
    sampling = models["mean_se_after"] ** 2
    trained_sampling = models["trained_mean_se_after"] ** 2
    return (moved - sampling - trained_sampling) / models["trained_variance_after"]


def _log_ratio(name: str) -> Callable[[pd.DataFrame], pd.Series]:
    """Return the logarithm of a variance over that at the training lengths."""
    return lambda models: (models[name] / models[f"trained_{name}"]).map(np.log)


# By name: its title, of which MEANINGS says more, and how it is computed from the columns of `beside_accuracy`. What
# the paper holds responsible is the shift of O that the layers above read, normalised; its rival is where attention is.
QUANTITIES: dict[str, tuple[str, Callable[[pd.DataFrame], pd.Series]]] = {
    "target": ("attention on the target item", itemgetter("target")),
    "largest": ("largest attention weight", itemgetter("largest")),
    "entropy": ("entropy of attention (nats)", itemgetter("entropy")),
    "variance_before": ("global variance of O", _log_ratio("variance_before")),
    "variance_after": ("global variance of normalised O", _log_ratio("variance_after")),
    "drift_after": ("drift of the global mean of normalised O", drift),
    "shift_before": ("Wasserstein shift of O", itemgetter("shift_before")),
    "shift_after": ("Wasserstein shift of normalised O", itemgetter("shift_after")),
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
