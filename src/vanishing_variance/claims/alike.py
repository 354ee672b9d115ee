"""Claims that two gains in accuracy are alike: differences of differences."""

from dataclasses import replace

import numpy as np
from scipy import stats

from vanishing_variance.claims.differences import Pair, no_test
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, one_sided
from vanishing_variance.claims.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED
from vanishing_variance.harness.markdown import mean_estimate
from vanishing_variance.harness.runs import TASKS
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.power import seeds_for_equivalence, seeds_for_power

# Percentage points: a third to a half of the gains of Tables 1 and 2, whose own differences of gains are 0.2 and 0.4.
MARGIN = 1.0
ORTHOGONAL = (
    "The interaction: each seed's gain of ln over none (mean accuracy over all test lengths beyond training) with the "
    "adaptive temperature, minus its gain with the plain softmax. Supported: the 95% t interval is within ±1 "
    "percentage point, a third to a half of the paper's gains. Contradicted: it is wholly outside. Else undecided. Not "
    "comparable where the models are behind the paper's."
)
NEARER = (
    "How far apart ln and std are, in mean accuracy over all test lengths beyond training: the absolute value of the "
    "mean of ln minus std over seeds, on argmax, less that on dictionary. The tasks' seeds are independent: 95% "
    "interval by Welch's t-test. Supported: the interval is above 0. Contradicted: it is below 0. Else undecided. Not "
    "comparable where a task's models are behind the paper's."
)


def orthogonal(task: str, evidence: Evidence) -> Judgement:
    """Judge whether `ln` gains as much with the adaptive temperature as without."""
    if missing := evidence.missing(task, "short", "ln", "none"):
        return Judgement(NOT_TESTED, missing)
    plain, adaptive = (Pair(task, "short", "ln", "none", temperature) for temperature in ("plain", "adaptive"))
    gains = [pair.gains(evidence) for pair in (adaptive, plain)]
    values = gains[0] - gains[1]
    mean, low, high = interval(values)
    words = f"ln gains {gains[0].mean():.3g} with the adaptive temperature, {gains[1].mean():.3g} without"
    papers = (adaptive.papers(evidence) - plain.papers(evidence)).dropna()
    found = Judgement(UNDECIDED, words, "pp", mean, n=len(values), paper=papers.mean())
    if note := no_test(values):
        return replace(found, evidence=f"{words}, {note}")
    verdict = SUPPORTED if max(-low, high) < MARGIN else CONTRADICTED if max(low, -high) > MARGIN else UNDECIDED
    if verdict == UNDECIDED and (low > 0 or high < 0):
        words += f", an interaction that is not shown to exceed ±{MARGIN:g}"
    if verdict == UNDECIDED and (high - low) / 2 >= MARGIN:
        seeds = seeds_for_equivalence(float(values.std(ddof=1)), MARGIN)
        words += f", the interval is wider than ±{MARGIN:g}, {seeds} seeds for 90% power, were the truth 0"
    return replace(found, verdict=verdict, evidence=words, low=low, high=high)


def nearer(evidence: Evidence) -> Judgement:
    """Judge whether `ln` and `std` are nearer to each other on dictionary than on argmax.

    n is that of the task with fewer seeds.
    """
    if missing := [text for task in TASKS if (text := evidence.missing(task, "short", "ln", "std"))]:
        return Judgement(NOT_TESTED, "; ".join(missing))
    gains = {task: Pair(task, "short", "ln", "std").gains(evidence) for task in TASKS}
    words = "; ".join(f"{task} {mean_estimate(of, '.3g')}" for task, of in gains.items())
    argmax, dictionary = (of * np.sign(of.mean()) for of in gains.values())
    difference = float(argmax.mean() - dictionary.mean())
    found = Judgement(UNDECIDED, words, "pp", difference, n=min(len(argmax), len(dictionary)))
    if note := no_test(argmax) or no_test(dictionary):
        return replace(found, evidence=f"{words}, {note}")
    # Whichever signs the true means have: where this interval is on one side of 0, so is that of their sum.
    low, high = stats.ttest_ind(argmax, dictionary, equal_var=False).confidence_interval(0.95)
    found = replace(found, verdict=one_sided(low, high), low=float(low), high=float(high))
    seeds = seeds_for_power(difference / float(np.hypot(argmax.std(ddof=1), dictionary.std(ddof=1))))
    if found.verdict == UNDECIDED and seeds:
        return replace(found, evidence=f"{words}, {seeds} seeds for 90% power")
    return found
