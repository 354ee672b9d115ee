"""Gains in accuracy beyond the training lengths, and differences of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.claims.criteria import MARGIN, margins
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.paper import ALL_EQUAL, Claim, Measured, are_equal, by_seed
from vanishing_variance.claims.verdict import CONTRADICTED
from vanishing_variance.harness.numbers import estimate, power
from vanishing_variance.results.arms import BEYOND, Arms, Pair
from vanishing_variance.results.paired import estimate_of, paired
from vanishing_variance.results.paper import ROUNDED, papers_gains, papers_numbers
from vanishing_variance.results.runs import norm_of
from vanishing_variance.statistics.comparisons import holm
from vanishing_variance.statistics.intervals import mean_estimate

ALPHA = 0.05


def gain(claim: Claim, evidence: Evidence) -> Measured:
    """Measure each seed's gain of the treatment over the baseline; `parts`: where it is significantly behind."""
    arms = evidence.arms(claim.pair)
    test = paired(arms)
    differences = _by_length(arms)
    ahead = int((differences.mean() > 0).sum())
    words = [f"ahead at {ahead} of {differences.shape[1]} lengths"]
    behind = [power(length) for length in lengths_behind(differences)]
    if behind:
        words.append(f"significantly behind at {', '.join(behind)}")
    if not np.isnan(test.d_z):
        words.append(f"p = {test.p:.2g}")
    _, baseline = arms.paired
    below = papers_numbers(evidence.paper, claim.pair, claim.baseline) - baseline[differences.columns].mean()
    if norm_of(claim.baseline) == "none" and below.max() > ROUNDED:
        furthest = power(int(str(below.idxmax())))
        words.append(f"baseline up to {below.max():.1f} points below the paper's, at {furthest}")
    words += _at_equal_accuracy(arms)
    paper = _papers(claim.pair, evidence).mean(skipna=False)
    parts = dict.fromkeys(behind, CONTRADICTED)
    return by_seed(arms.gains[BEYOND].to_numpy(), "pp", ", ".join(words), paper=paper, parts=parts)


def _at_equal_accuracy(arms: Arms) -> list[str]:
    """Return words for the log-odds at the shortest length, and for what is left of a gain at equal ones."""
    log_odds, *_ = estimate_of(arms, "log_odds", arms.lengths[0])
    if np.isnan(log_odds):
        return []
    shortest = power(arms.lengths[0])
    at_baselines = estimate("+.1f", *estimate_of(arms, "at_baseline_accuracy"))
    at_own = estimate("+.1f", *estimate_of(arms, "at_own_accuracy"))
    left = f"{at_baselines} left at the baseline's log-odds at {shortest}, {at_own} at its own"
    return [f"log-odds {log_odds:+.2f} at {shortest}", left]


def lengths_behind(differences: pd.DataFrame) -> list[int]:
    """Return the lengths, columns, at which gains are significantly below 0: paired t-test, Holm over these lengths."""
    p = []
    for values in differences.to_numpy().T:
        p.append(np.nan if are_equal(values) else stats.ttest_1samp(values, 0).pvalue)
    significant = holm(np.array(p)) < ALPHA
    below = differences.columns[significant & (differences.mean() < 0)]
    return [int(length) for length in below]


def interaction(claim: Claim, evidence: Evidence) -> Measured:
    """Measure each seed's gain by the rule of the claim, minus its gain as trained."""
    pairs = (claim.pair, claim.pair._replace(rule="last"))
    with_it, without = (evidence.arms(pair).gains[BEYOND].to_numpy() for pair in pairs)
    papers_with_it, papers_without = (_papers(pair, evidence) for pair in pairs)
    paper = (papers_with_it - papers_without).mean(skipna=False)
    said = f"ln gains {with_it.mean():.3g} with the adaptive temperature, {without.mean():.3g} without"
    measured = by_seed(with_it - without, "pp", said, paper=paper)
    supported_above, contradicted_below = margins(measured)
    words = []
    if not np.isnan(measured.low):
        words.append(f"supported with a margin above {supported_above:.2f}")
    if contradicted_below > 0:
        words.append(f"contradicted with one below {contradicted_below:.2f}")
    if supported_above >= MARGIN >= contradicted_below > 0:
        words.append(f"an interaction that is not shown to exceed ±{MARGIN:g}")
    if supported_above >= MARGIN >= contradicted_below and measured.high - measured.low >= 2 * MARGIN:
        words.append(f"the interval is wider than ±{MARGIN:g}")
    return replace(measured, words=", ".join([measured.words, *words]))


def distances(claim: Claim, evidence: Evidence) -> Measured:
    """Measure how far apart two lines are on the first task, less that on the second; n of that with fewer seeds."""
    words = []
    apart = []
    for task in claim.tasks.split():
        values = evidence.arms(claim.pair._replace(task=task)).gains[BEYOND].to_numpy()
        words.append(f"{task} {mean_estimate(values, '.3g')}")
        apart.append(values * np.sign(values.mean()))
    first, second = apart
    difference = float(first.mean() - second.mean())
    n = min(len(first), len(second))
    measured = Measured("; ".join(words), "pp", difference, n=n)
    if are_equal(first) or are_equal(second):
        return replace(measured, words=f"{measured.words}, {ALL_EQUAL}")
    # Whichever signs the true means have: where this interval is on one side of 0, so is that of their sum.
    low, high = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    return replace(measured, low=float(low), high=float(high))


def _by_length(arms: Arms) -> pd.DataFrame:
    """Return the gains beyond training, a row a seed, a column a length."""
    return arms.gains[[length for length in arms.lengths if length > arms.longest]]


def _papers(pair: Pair, evidence: Evidence) -> "pd.Series[float]":
    """Return the paper's gain at our lengths beyond training; NaN where its tables lost one."""
    lengths = _by_length(evidence.arms(pair)).columns
    return papers_gains(evidence.paper, pair, lengths).reindex(lengths)
