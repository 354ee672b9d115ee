"""Claims about attention and its outputs O: what changes with length, and what a normaliser does about it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, by_seed
from vanishing_variance.claims.verdict import NOT_TESTED
from vanishing_variance.harness.markdown import mean_estimate
from vanishing_variance.results.accuracy import of_both
from vanishing_variance.results.quantities import QUANTITIES

# A number a row of `Evidence.inside`.
Measure = Callable[[pd.DataFrame], pd.Series]

SCOPE = "Short range, all seeds, over the test lengths beyond training: "
SIGN = (
    " Supported: the 95% t interval over seeds is above 0; contradicted: it is below; else undecided. Not comparable "
    "where the models are behind the paper's."
)


# The unit of squared drifts, in standard deviations of training.
_HUNDREDTHS = "(0.01 sd)²"


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


def drifts(task: str, evidence: Evidence) -> Judgement:
    """Judge whether without a normaliser the global mean of O moves away from that of training."""
    found = changes("none", _drift, _HUNDREDTHS, task, evidence)
    return found if np.isnan(found.ours) else replace(found, evidence=f"none {_distance(found.ours)}")


def keeps_mean(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the global mean of O moves less with `ln` than with `none`."""
    found = smaller(_drift, _HUNDREDTHS, task, evidence)
    if found.verdict == NOT_TESTED:
        return found
    moved = of_both(*(_values(evidence, task, norm, _drift) for norm in ("none", "ln")))
    words = (f"{norm} {_distance(of.mean())}" for norm, of in zip(("none", "ln"), moved, strict=True))
    return replace(found, evidence=", ".join(words))


def _distance(squared: float) -> str:
    """Return a mean squared drift as a root mean square, which is 0 where it is within its sampling error."""
    return f"{max(squared, 0.0) ** 0.5 / 100:.2g} sd"


def _drift(of: pd.DataFrame) -> pd.Series:
    """Return the squared drift of the global mean after the normaliser, which is O itself without one."""
    return 1e4 * QUANTITIES["drift_after"][1](of)


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
