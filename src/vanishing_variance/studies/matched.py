"""The gain of a line at equal loss: by regression, and between checkpoints whose losses are equal.

S seeds.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.gains import Estimate, columns
from vanishing_variance.statistics.adjusted import adjusted
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.paired import difference
from vanishing_variance.studies.results import LOSS

PLAIN = "plain"
STEP = "step_"


def at_equal_loss(ours: pd.DataFrame, theirs: pd.DataFrame, longest: int) -> dict[str, float]:
    """Return the points beyond training that are left at equal log loss (`statistics.adjusted`), after the same steps.

    Both are results of one task and rule (`results.COLUMNS`). Columns `equal_loss`; nothing without losses.
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
    pairs = [_pair(rows(our_models, seed=seed), rows(their_models, seed=seed)) for seed in seeds]
    our_beyond, their_beyond, gaps = np.array(pairs).T
    control = _earlier(their_models, zip(seeds, [*seeds[1:], seeds[0]], strict=True))
    points = difference(our_beyond, their_beyond)
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
    return models[models["rule"].eq(PLAIN) | models["rule"].str.startswith(STEP)]


def _pair(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[float, float, float]:
    """Return accuracies of a pair of models with about the same loss, and the log ratio of their losses."""
    our_last, their_last = rows(ours, rule=PLAIN).iloc[0], rows(theirs, rule=PLAIN).iloc[0]
    if our_last["log_loss"] < their_last["log_loss"]:
        our_last = _nearest(ours, their_last["log_loss"])
    else:
        their_last = _nearest(theirs, our_last["log_loss"])
    return our_last["beyond"], their_last["beyond"], our_last["log_loss"] - their_last["log_loss"]


def _earlier(models: pd.DataFrame, pairs: Iterable[tuple[int, int]]) -> Estimate:
    """Return by how much models taken from an earlier step are ahead of their partners, a mean over pairs."""
    differences = []
    for seed, other in pairs:
        ours, theirs = rows(models, seed=seed), rows(models, seed=other)
        one, two, _ = _pair(ours, theirs)
        ours_moved = rows(ours, rule=PLAIN)["log_loss"].iloc[0] < rows(theirs, rule=PLAIN)["log_loss"].iloc[0]
        differences.append(one - two if ours_moved else two - one)
    return interval(np.array(differences))


def _nearest(models: pd.DataFrame, log_loss: float) -> "pd.Series[float]":
    distances = (models["log_loss"] - log_loss).abs()
    return models.iloc[int(distances.to_numpy().argmin())]
