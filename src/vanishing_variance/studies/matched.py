"""Checkpoints of two lines with equal loss: the gain that is left when training is at the same point.

S seeds.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from vanishing_variance.results.accuracy import rows
from vanishing_variance.statistics.paired import Difference, difference
from vanishing_variance.studies.results import LOSS

PLAIN = "plain"
STEP = "step_"


@dataclass(frozen=True)
class Matched:
    """The `points` gained beyond training by checkpoints of equal loss; `gap`: the mean log ratio of their losses."""

    points: Difference
    gap: float


def matched(ours: pd.DataFrame, theirs: pd.DataFrame, longest: int) -> Matched | None:
    """Return the gain of `ours` over `theirs` at equal loss, paired by seed; None where no checkpoints were kept.

    Both are results of one task (`results.COLUMNS`). Of each pair, the model with the higher loss after the last step
    stays; of the other, the checkpoint whose loss is nearest to it in ratio, before or after the last step, is taken.
    """
    if LOSS not in ours or LOSS not in theirs:
        return None
    our_models, their_models = _models(ours, longest), _models(theirs, longest)
    seeds = sorted(set(our_models["seed"]) & set(their_models["seed"]))
    if not any(our_models["rule"].str.startswith(STEP)) or not seeds:
        return None
    pairs = [_pair(rows(our_models, seed=seed), rows(their_models, seed=seed)) for seed in seeds]
    our_beyond, their_beyond, gaps = np.array(pairs).T
    return Matched(difference(our_beyond, their_beyond), float(gaps.mean()))


def _models(results: pd.DataFrame, longest: int) -> pd.DataFrame:
    """Return the last weights and the checkpoints: seed, rule, log of the loss, accuracy beyond training in percent."""
    of_training = results["rule"].eq(PLAIN) | results["rule"].str.startswith(STEP)
    beyond = results[of_training & (results["length"] > longest) & results[LOSS].notna()]
    models = beyond.groupby(["seed", "rule"], as_index=False)[[LOSS, "accuracy"]].mean()
    log_loss = np.log(models[LOSS].astype(float))
    return models.assign(log_loss=log_loss, beyond=100 * models["accuracy"])


def _pair(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[float, float, float]:
    """Return accuracies of a pair of models with about the same loss, and the log ratio of their losses."""
    our_last, their_last = rows(ours, rule=PLAIN).iloc[0], rows(theirs, rule=PLAIN).iloc[0]
    if our_last["log_loss"] < their_last["log_loss"]:
        our_last = _nearest(ours, their_last["log_loss"])
    else:
        their_last = _nearest(theirs, our_last["log_loss"])
    return our_last["beyond"], their_last["beyond"], our_last["log_loss"] - their_last["log_loss"]


def _nearest(models: pd.DataFrame, log_loss: float) -> "pd.Series[float]":
    distances = (models["log_loss"] - log_loss).abs()
    return models.iloc[int(distances.to_numpy().argmin())]
