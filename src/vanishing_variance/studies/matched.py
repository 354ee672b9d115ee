"""The gain of a line at equal loss: by regression, and between checkpoints whose losses are equal.

S seeds.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.compare.gains import UNKNOWN, columns
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.paired import difference
from vanishing_variance.studies.results import LOSS

LAST = "last"
STEP = "step_"


def at_equal_loss(ours: pd.DataFrame, theirs: pd.DataFrame, longest: int) -> dict[str, float]:
    """Return the points beyond training that are left at equal log loss (`statistics.adjusted`), after the same steps.

    Both are results of one task and rule (`reading.by_rule`). Columns `equal_loss`; nothing without losses.
    """
    our_models, their_models = _models(ours, longest), _models(theirs, longest)
    if our_models.empty or their_models.empty:
        return {}
    outcomes = [models["beyond"].to_numpy() for models in (our_models, their_models)]
    losses = [models["log_loss"].to_numpy() for models in (our_models, their_models)]
    return columns("equal_loss", adjusted(*outcomes, *losses))


def matched(ours: pd.DataFrame, theirs: pd.DataFrame, longest: int) -> dict[str, float]:
    """Return the gain of `ours` over `theirs` between checkpoints of equal loss, paired by seed.

    Both are results of one task. Of each pair, the model with the higher loss after the last step stays; of the other,
    the checkpoint whose loss is nearest to it in ratio, before or after the last step, is taken.

    Columns `matched`, the points beyond training, with `matched_gap`, the mean log ratio of the losses; and `control`,
    the points by which, among the baseline's own seeds, a model that was taken from an earlier step is ahead of one of
    equal loss after the last step. Where it is not 0, so much is the steps' and not the treatment's. Nothing where no
    checkpoints were kept.
    """
    our_models, their_models = (_checkpoints(_models(results, longest)) for results in (ours, theirs))
    seeds = sorted(set(our_models["seed"]) & set(their_models["seed"]))
    if not any(our_models["rule"].str.startswith(STEP)) or not seeds:
        return {}
    our_beyond, their_beyond, gaps, _ = _pairs(our_models, their_models, zip(seeds, seeds, strict=True))
    points = difference(our_beyond, their_beyond)
    one, other, _, is_one_moved = _pairs(their_models, their_models, zip(seeds, [*seeds[1:], seeds[0]], strict=True))
    control = interval(np.where(is_one_moved, one - other, other - one))
    if len(seeds) == 1:  # a model is no control of itself
        control = UNKNOWN
    estimates = columns("matched", (points.mean, points.low, points.high)) | columns("control", control)
    return {**estimates, "matched_gap": float(gaps.mean())}


def _models(results: pd.DataFrame, longest: int) -> pd.DataFrame:
    """Return the models that have a loss: seed, rule, log of the loss, accuracy beyond training in percent."""
    beyond = results.reindex(columns=["seed", "rule", "length", "accuracy", LOSS]).dropna(subset=LOSS)
    beyond = beyond[beyond["length"] > longest]
    models = beyond.groupby(["seed", "rule"], as_index=False)[[LOSS, "accuracy"]].mean()
    log_loss = np.log(models[LOSS].astype(float))
    return models.assign(log_loss=log_loss, beyond=100 * models["accuracy"])


def _checkpoints(models: pd.DataFrame) -> pd.DataFrame:
    """Return the last weights and those after some steps; averaged ones are none that training went through."""
    return models[models["rule"].eq(LAST) | models["rule"].str.startswith(STEP)]


def _pairs(ours: pd.DataFrame, theirs: pd.DataFrame, pairs: Iterable[tuple[int, int]]) -> Float[np.ndarray, "4 S"]:
    """Return of each pair of seeds the accuracies of two models with about the same loss, the log ratio of their
    losses, and whether it is ours that is taken from another step."""
    found = []
    for our_seed, their_seed in pairs:
        own, other = rows(ours, seed=our_seed), rows(theirs, seed=their_seed)
        our_last, their_last = rows(own, rule=LAST).iloc[0], rows(other, rule=LAST).iloc[0]
        is_ours_moved = our_last["log_loss"] < their_last["log_loss"]
        if is_ours_moved:
            our_last = _nearest(own, their_last["log_loss"])
        else:
            their_last = _nearest(other, our_last["log_loss"])
        gap = our_last["log_loss"] - their_last["log_loss"]
        found.append((our_last["beyond"], their_last["beyond"], gap, is_ours_moved))
    return np.array(found, dtype=float).T


def _nearest(models: pd.DataFrame, log_loss: float) -> "pd.Series[float]":
    distances = (models["log_loss"] - log_loss).abs()
    return models.iloc[int(distances.to_numpy().argmin())]
