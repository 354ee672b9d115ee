"""The statistics of two lines by name: of one of them, or of their difference, paired by seed.

Accuracies are in percent; differences are percentage points. S seeds.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.measure.parts import PARTS, WRONG
from vanishing_variance.results.arms import BEYOND, Arms, Scope, of_both
from vanishing_variance.results.columns import LAST, LOSS, NO_ANSWER
from vanishing_variance.statistics.adjusted import Estimate, adjusted
from vanishing_variance.statistics.comparisons import Difference
from vanishing_variance.statistics.comparisons import difference as paired_test
from vanishing_variance.statistics.components import Components, components
from vanishing_variance.statistics.intervals import NAN, anytime_interval, interval
from vanishing_variance.statistics.log_odds import log_odds

# A number a model of either arm.
Covariates = tuple["pd.Series[float]", "pd.Series[float]"]
# Before a part's name in that of a statistic: by how much a line has less of it.
GAINED = "gain_"
# Of losses that results have with six decimals: the logarithm of a smaller one is rounding.
SMALLEST_LOSS = 1e-5
DECIMALS = 6
# Statistics that need single answers, which studies do not keep.
OF_ANSWERS = ("se", "share_seeds", "share_sequences", "share_both")


def _mean(of_seeds: "pd.Series[float]") -> Estimate:
    return interval(of_seeds.to_numpy())


def _mean_difference(ours: "pd.Series[float]", theirs: "pd.Series[float]") -> Estimate:
    """Return the mean difference, paired by seed; without an interval where all seeds have the same one."""
    test = paired_test(ours.to_numpy(), theirs.to_numpy())
    return test.mean, test.low, test.high


def _target(arms: Arms, scope: Scope) -> Estimate | None:
    """Return the attention weight of the item with the answer, as trained."""
    if arms.rule != LAST:
        return None
    weights = arms.inside(arms.line, "target")[scope]
    in_order = weights[arms.line["seed"].unique()]  # of the results, which decides the last digit of boards in git
    return _mean(in_order)


def _part(name: str, arms: Arms, scope: Scope) -> Estimate | None:
    """Return the percentage of the sequences whose answers are in a part; none where it was not measured."""
    of_seeds = _percent(arms, arms.line, name, scope)
    return _mean(of_seeds) if len(of_seeds) else None


def _fewer(name: str, arms: Arms, scope: Scope) -> Estimate | None:
    """Return by how many points fewer answers of a line are in a part than of its baseline, paired by seed."""
    ours, theirs = of_both(*(_percent(arms, results, name, scope) for results in (arms.line, arms.baseline)))
    return _mean_difference(theirs, ours) if len(ours) else None


def _percent(arms: Arms, results: pd.DataFrame, name: str, scope: Scope) -> "pd.Series[float]":
    is_measured = name in results and results[name].notna().all()  # of some seeds alone it would have another n
    measured = results if is_measured else results.assign(**{name: NAN})[:0]
    return 100 * arms.inside(measured, name).get(scope, pd.Series(dtype=float))


def _variance_ratio(arms: Arms, scope: Scope) -> float | None:
    """Return the variance of O over that at the shortest length, as trained, the geometric mean over seeds."""
    if arms.rule != LAST:
        return None
    variance = arms.inside(arms.line, "variance")
    return float(stats.gmean((variance[scope] / variance[arms.lengths[0]]).to_numpy()))


def _no_answer(arms: Arms, _: Scope) -> float | None:
    """Return the largest fraction of the answers of a model at a length that are not a number, where there are any."""
    missing = arms.line[NO_ANSWER].max() if NO_ANSWER in arms.line else 0
    return float(missing) if missing > 0 else None


@lru_cache(maxsize=64)
def paired(arms: Arms, scope: Scope = BEYOND) -> Difference:
    """Return the test of a line against its baseline, paired by seed."""
    ours, theirs = arms.paired
    return paired_test(ours[scope].to_numpy(), theirs[scope].to_numpy())


def _difference(arms: Arms, scope: Scope) -> Estimate:
    test = paired(arms, scope)
    return test.mean, test.low, test.high


def _all_seeds(arms: Arms, scope: Scope) -> Estimate | None:
    """Return the difference of the means of all seeds by Welch's interval, where the baseline has more than paired."""
    if not len(arms.theirs) > len(arms.gains) > 1:
        return None
    ours, theirs = arms.ours[scope], arms.theirs[scope]
    low, high = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
    return float(ours.mean() - theirs.mean()), float(low), float(high)


def _anytime(arms: Arms, scope: Scope) -> Estimate | None:
    test = paired(arms, scope)
    if np.isnan(test.low):  # of one seed, or of equal differences
        return (test.mean, NAN, NAN) if test.n else None
    return anytime_interval(arms.gains[scope].to_numpy())


def _log_odds(arms: Arms, scope: Scope) -> Estimate | None:
    """Return the difference of the log-odds, paired by seed; none without a length of training and two seeds."""
    ours, theirs = _odds(arms, scope)
    return _mean_difference(ours, theirs) if len(ours) else None


def _odds(arms: Arms, scope: Scope) -> Covariates:
    gains = arms.gains[scope]
    if len(gains) < 2 or arms.lengths[0] > arms.longest:
        return gains[:0], gains[:0]
    ours, theirs = (log_odds(arm[scope].to_numpy() / 100, arms.sequences) for arm in arms.paired)
    return pd.Series(ours, gains.index), pd.Series(theirs, gains.index)


def _accuracies(arms: Arms) -> Covariates:
    """Return the log-odds at the shortest length."""
    return _odds(arms, arms.lengths[0])


def _log_loss(arms: Arms, _: Scope) -> Estimate | None:
    """Return the difference of the log losses at the training lengths, paired by seed: below 0, the line's is lower."""
    ours, theirs = of_both(*_losses(arms))
    return _mean_difference(ours, theirs) if len(ours) else None


def _losses(arms: Arms) -> Covariates:
    """Return the log of the losses of all seeds, after the same steps; none where one is not there, or too coarse."""
    losses = []
    for results in (arms.line, arms.baseline):
        known = results[results["length"] > arms.longest].reindex(columns=["seed", LOSS]).dropna()
        loss = known.groupby("seed")[LOSS].first().astype(float)  # the same at all lengths
        has_digits = (loss > 0) & (loss != loss.round(DECIMALS))
        is_exact = ((loss >= SMALLEST_LOSS) | has_digits).all()
        is_whole = len(loss) == results["seed"].nunique()
        losses.append(loss.map(np.log) if is_exact and is_whole else loss[:0])
    ours, theirs = losses
    return ours, theirs


@lru_cache(maxsize=4)
def _left(covariates_of: Callable[[Arms], Covariates], arms: Arms, scope: Scope) -> tuple[Estimate, Estimate] | None:
    """Return what is left of a difference at the baseline's mean covariate, and at the line's, by a regression each.

    Nothing where an arm has no covariates, or one is missing.
    """
    covariates = covariates_of(arms)
    if any(values.empty or values.isna().any() for values in covariates):
        return None
    of_arms = zip((arms.ours, arms.theirs), covariates, strict=True)
    outcomes = [accuracies[scope][values.index].to_numpy() for accuracies, values in of_arms]
    return adjusted(*outcomes, *(values.to_numpy() for values in covariates))


def _left_at(end: int, covariates_of: Callable[[Arms], Covariates], arms: Arms, scope: Scope) -> Estimate | None:
    found = _left(covariates_of, arms, scope)
    return found and found[end]


@lru_cache(maxsize=1)
def _components(arms: Arms, scope: Scope) -> Components:
    """Return the components of the uncertainty of a difference at a length; without answers NaN."""
    if not arms.answers or scope == BEYOND:
        return Components()
    ours, theirs = (100.0 * of_arm[f"{arms.rule}-{scope}"] for of_arm in arms.answers)
    return components(ours - theirs)


class Statistic(NamedTuple):
    """A function of arms and a scope, to a number, an estimate with its interval, or None where there is none.

    `head`: its words in a table; `how`: Python's format. `of_pair`: whether it is of the seeds that line and baseline
    have, and not of the line alone.
    """

    of: Callable[[Arms, Any], Estimate | float | None]
    head: str
    how: str
    of_pair: bool = True


STATISTICS = {
    "accuracy": Statistic(lambda arms, scope: _mean(arms.ours[scope]), "accuracy (%)", ".1f", False),
    "no_answer": Statistic(_no_answer, "no answer", ".1%", False),
    "target": Statistic(_target, "target", ".2f", False),
    "variance_ratio": Statistic(_variance_ratio, "variance of O over that at the shortest", ".3f", False),
    # the parts of the answers, and of a gain: the fewer wrong ones of each part, which add up to it
    **{name: Statistic(partial(_part, name), f"{words} (%)", ".1f", False) for name, words in PARTS.items()},
    **{f"{GAINED}{name}": Statistic(partial(_fewer, name), f"fewer {PARTS[name]} (pp)", "+.1f") for name in WRONG},
    # the accuracies of the pairs
    "line_accuracy": Statistic(lambda arms, scope: _mean(arms.paired[0][scope]), "line (%)", ".1f"),
    "baseline_accuracy": Statistic(lambda arms, scope: _mean(arms.paired[1][scope]), "baseline (%)", ".1f"),
    "difference": Statistic(_difference, "beyond (pp)", "+.1f"),
    "d_z": Statistic(lambda arms, scope: paired(arms, scope).d_z, "d_z", "+.2f"),
    "p": Statistic(lambda arms, scope: paired(arms, scope).p, "p", ".2g"),
    "anytime": Statistic(_anytime, "anytime (pp)", "+.1f"),
    "all_seeds": Statistic(_all_seeds, "from all seeds (pp)", "+.1f"),
    "log_odds": Statistic(_log_odds, "log-odds", "+.2f"),
    "log_loss": Statistic(_log_loss, "difference of log loss at training lengths (nats)", "+.3f"),
    # the difference that is left at equal covariates
    "at_baseline_accuracy": Statistic(partial(_left_at, 0, _accuracies), "at its baseline's accuracy (pp)", "+.1f"),
    "at_own_accuracy": Statistic(partial(_left_at, 1, _accuracies), "at its own accuracy (pp)", "+.1f"),
    "at_baseline_loss": Statistic(partial(_left_at, 0, _losses), "at its baseline's loss (pp)", "+.1f"),
    "at_own_loss": Statistic(partial(_left_at, 1, _losses), "at its own loss (pp)", "+.1f"),
    # its standard error with what the shared test sequences add, and the shares of its square
    "se": Statistic(lambda arms, scope: _components(arms, scope).se, "standard error (pp)", ".2g"),
    "share_seeds": Statistic(lambda arms, scope: _components(arms, scope).share_seeds, "share of seeds", ".0%"),
    "share_sequences": Statistic(lambda arms, scope: _components(arms, scope).share_sequences, "of sequences", ".0%"),
    "share_both": Statistic(lambda arms, scope: _components(arms, scope).share_both, "of both", ".0%"),
}


def estimate_of(arms: Arms, name: str, scope: Scope = BEYOND) -> Estimate:
    """Return a statistic of two arms and its interval, which is NaN where there is none."""
    value = STATISTICS[name].of(arms, scope)
    return value if isinstance(value, tuple) else (NAN if value is None else value, NAN, NAN)
