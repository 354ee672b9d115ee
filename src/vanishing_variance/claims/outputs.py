"""Claims about attention and its outputs O: what changes with length, and what a normaliser does about it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, by_seed
from vanishing_variance.study.markdown import mean_estimate
from vanishing_variance.study.quantities import QUANTITIES
from vanishing_variance.study.results import of_both
from vanishing_variance.study.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED

# A number a row of `Evidence.inside`.
Measure = Callable[[pd.DataFrame], pd.Series]

SCOPE = "Short range, all seeds, over the test lengths beyond training: "
SIGN = (
    " Supported: the 95% t interval over seeds is above 0; contradicted: it is below; else undecided. Not comparable "
    "where undertrained."
)


def log_ratio(name: str) -> Measure:
    """Return the measure log2 of a variance over that at the training lengths."""
    return lambda of: (of[name] / of[f"trained_{name}"]).map(np.log2)


def dispersed(task: str, evidence: Evidence) -> Judgement:
    """Judge whether less of the attention is outside its 16 largest weights with `ln` than with `none`.

    The oldest models of a record, of which the mass of the 16 largest weights was not measured, do not count.
    """
    seen = evidence.mechanism.assign(largest16=evidence.mechanism.get("largest16", np.nan))
    measured = replace(evidence, mechanism=seen[seen["largest16"].notna() | seen["largest"].isna()])
    found = smaller(lambda of: 100 * (1 - of["largest16"]), "% of the weight", task, measured)
    unmeasured = "the mass of the 16 largest weights was not measured: the models are older than the rule"
    return found if found.evidence else replace(found, evidence=unmeasured)


DRIFTS = (
    "minus the log2 ratio of the global variance (none) to that at the training lengths, above 0; and the global mean "
    "drifts: at the longest length it differs from that at the training lengths by more than 1.96 standard errors over "
    "sequences, in so many models that a binomial test against 5% has p < 0.05, else the claim is at best undecided."
)


def drifts(task: str, evidence: Evidence) -> Judgement:
    """Judge whether without a normaliser the global variance decays and the global mean drifts."""
    of = evidence.inside(task, "none")
    if of.empty:
        return Judgement(NOT_TESTED, evidence.missing(task, "short", "none"))
    decay = _judged(-_values(evidence, task, "none", log_ratio("variance_before")), "log2 ratio")
    last = of[of["length"] == of["length"].max()]
    error = np.hypot(last["mean_se_before"], last["trained_mean_se_before"])
    moved = int(((last["mean_before"] - last["trained_mean_before"]).abs() > 1.96 * error).sum())
    still = binomtest(moved, len(last), 0.05, alternative="greater").pvalue >= 0.05
    words = f"mean drifts in {moved} of {len(last)} models; log2 of the variance falls by {decay.evidence}"
    return replace(decay, evidence=words, verdict=UNDECIDED if still and decay.verdict == SUPPORTED else decay.verdict)


# A drift of a hundredth of a standard deviation, squared: what is smaller than this without a normaliser needs none.
NO_DRIFT = 1e-4
KEEPS = (
    "the absolute log2 ratio of the global variance to that at the training lengths, and the squared drift of the "
    "global mean from there, in variances of training and less its own sampling error: each after the normaliser, none "
    "less ln, above 0. The claim is contradicted where either is, supported where both are. Where none's mean drifts "
    "by less than a hundredth of a standard deviation, there is nothing to preserve, and the mean is undecided."
)


def keeps(task: str, evidence: Evidence) -> Judgement:
    """Judge whether `ln` keeps the global variance and the global mean nearer to those of training."""
    drift = QUANTITIES["drift_after"][1]
    variance = smaller(lambda of: log_ratio("variance_after")(of).abs(), "absolute log2 ratio", task, evidence)
    mean = smaller(drift, "variances", task, evidence)
    if variance.verdict == NOT_TESTED:
        return variance
    if _values(evidence, task, "none", drift).mean() < NO_DRIFT:
        mean = replace(mean, verdict=UNDECIDED)
    found = {"variance": variance, "mean": mean}
    worst = min(found.values(), key=lambda one: (CONTRADICTED, UNDECIDED, SUPPORTED).index(one.verdict))
    return replace(worst, evidence="; ".join(f"{name}: {one.verdict} ({one.evidence})" for name, one in found.items()))


def changes(norm: str, measure: Measure, unit: str, task: str, evidence: Evidence) -> Judgement:
    """Judge whether a measure of the models of one normaliser is above 0 beyond training."""
    values = _values(evidence, task, norm, measure)
    return _judged(values, unit) if values.size else Judgement(NOT_TESTED, evidence.missing(task, "short", norm))


def smaller(measure: Measure, unit: str, task: str, evidence: Evidence) -> Judgement:
    """Judge whether a measure is smaller with `ln` than with `none`, paired by seed."""
    none, ln = of_both(*(_values(evidence, task, norm, measure) for norm in ("none", "ln")))
    if none.empty:
        return Judgement(NOT_TESTED, evidence.missing(task, "short", "none", "ln"))
    return replace(_judged(none - ln, unit), evidence=f"none {none.mean():.3g}, ln {ln.mean():.3g}")


def _values(evidence: Evidence, task: str, norm: str, measure: Measure) -> pd.Series:
    """Return a number by seed."""
    of = evidence.inside(task, norm)
    return measure(of).groupby(of["seed"]).mean()


def _judged(values: pd.Series, unit: str) -> Judgement:
    return by_seed(values.to_numpy(), unit, mean_estimate(values.to_numpy(), ".3g"))
