"""Claims that two gains in accuracy are alike: differences of differences."""

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, decided, no_test, one_sided
from vanishing_variance.claims.verdict import UNDECIDED
from vanishing_variance.results.compare.beside_paper import papers_gains
from vanishing_variance.results.compare.pairs import Pair
from vanishing_variance.results.runs import TASKS
from vanishing_variance.statistics.intervals import interval, mean_estimate

# Percentage points: a third to a half of the gains of Tables 1 and 2, whose own differences of gains are 0.2 and 0.4.
MARGIN = 1.0
ORTHOGONAL = (
    "The interaction: each seed's gain of ln over none (mean accuracy over all test lengths beyond training) with the "
    "adaptive temperature, minus its gain as trained. Supported: the 95% t interval is within ±1 "
    "percentage point, a third to a half of the paper's gains. Contradicted: it is wholly outside. Else undecided. The "
    "evidence says with which other margin the verdict turns. Not comparable where the models are behind the paper's."
)
NEARER = (
    "How far apart ln and std are, in mean accuracy over all test lengths beyond training: the absolute value of the "
    "mean of ln minus std over seeds, on argmax, less that on dictionary. The tasks' seeds are independent: 95% "
    "interval by Welch's t-test. Supported: the interval is above 0. Contradicted: it is below 0. Else undecided. Not "
    "comparable where a task's models are behind the paper's."
)


def orthogonal(task: str, evidence: Evidence) -> Judgement:
    """Judge whether `ln` gains as much with the adaptive temperature as without."""
    evidence.require([task], "short", "ln", "none", rule="adaptive")
    last = Pair(task, "short", "ln", "none", "last")
    adaptive = Pair(task, "short", "ln", "none", "adaptive")
    with_it = evidence.gains(adaptive)
    without = evidence.gains(last)
    values = with_it - without
    mean, low, high = interval(values)
    papers = _papers(adaptive, evidence) - _papers(last, evidence)
    paper = papers.dropna().mean()
    words = f"ln gains {with_it.mean():.3g} with the adaptive temperature, {without.mean():.3g} without"
    note = no_test(values)
    if note:
        return Judgement(UNDECIDED, f"{words}, {note}", "pp", mean, paper=paper, n=len(values))
    supported_above, contradicted_below = max(-low, high), max(low, -high)
    verdict = decided(supported_above < MARGIN, contradicted_below > MARGIN)
    words += f", supported with a margin above {supported_above:.2f}"
    if contradicted_below > 0:
        words += f", contradicted with one below {contradicted_below:.2f}"
    if verdict == UNDECIDED:
        if contradicted_below > 0:
            words += f", an interaction that is not shown to exceed ±{MARGIN:g}"
        if (high - low) / 2 >= MARGIN:
            words += f", the interval is wider than ±{MARGIN:g}"
    return Judgement(verdict, words, "pp", mean, low, high, paper, len(values))


def nearer(evidence: Evidence) -> Judgement:
    """Judge whether `ln` and `std` are nearer to each other on dictionary than on argmax.

    n is that of the task with fewer seeds.
    """
    evidence.require(TASKS, "short", "ln", "std")
    words = []
    distances = []
    for task in TASKS:
        gains = evidence.gains(Pair(task, "short", "ln", "std"))
        words.append(f"{task} {mean_estimate(gains, '.3g')}")
        distances.append(gains * np.sign(gains.mean()))
    argmax, dictionary = distances
    difference = float(argmax.mean() - dictionary.mean())
    said = "; ".join(words)
    n = min(len(argmax), len(dictionary))
    note = no_test(argmax) or no_test(dictionary)
    if note:
        return Judgement(UNDECIDED, f"{said}, {note}", "pp", difference, n=n)
    # Whichever signs the true means have: where this interval is on one side of 0, so is that of their sum.
    test = stats.ttest_ind(argmax, dictionary, equal_var=False)
    low, high = test.confidence_interval(0.95)
    return Judgement(one_sided(low, high), said, "pp", difference, float(low), float(high), n=n)


def _papers(pair: Pair, evidence: Evidence) -> pd.Series:
    """Return the paper's differences of a pair at our lengths beyond training."""
    _, theirs = evidence.beyond(pair)
    return papers_gains(evidence.paper, pair, theirs.columns)
