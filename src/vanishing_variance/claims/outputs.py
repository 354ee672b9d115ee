"""Claims about attention and its outputs O: what changes with length, and what a normaliser does about it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, by_seed
from vanishing_variance.claims.verdict import NotTestedError
from vanishing_variance.results.compare.pairs import of_both
from vanishing_variance.statistics.intervals import mean_estimate

# A number a row of `Evidence.inside`.
Measure = Callable[[pd.DataFrame], pd.Series]

SCOPE = "Short range, all seeds, over the test lengths beyond training: "
SIGN = (
    " Supported: the 95% t interval over seeds is above 0; contradicted: it is below; else undecided. Not comparable "
    "where the models are behind the paper's."
)
# The unit of squared drifts, in standard deviations of training.
HUNDREDTHS = "(0.01 sd)²"


def changes(norm: str, measure: Measure, unit: str, task: str, evidence: Evidence) -> Judgement:
    """Judge whether a measure of the models of one normaliser is above 0 beyond training."""
    values = _values(evidence, task, norm, measure)
    _require_values(values, evidence, task, norm)
    by_model = values.to_numpy()
    return by_seed(by_model, unit, mean_estimate(by_model, ".3g"))


def smaller(
    measure: Measure, unit: str, task: str, evidence: Evidence, shown: Callable[[float], str] = "{:.3g}".format
) -> Judgement:
    """Judge whether a measure is smaller with `ln` than with `none`, paired by seed; `shown`: a mean in words."""
    none = _values(evidence, task, "none", measure)
    ln = _values(evidence, task, "ln", measure)
    none, ln = of_both(none, ln)
    _require_values(none, evidence, task, "none", "ln")
    found = by_seed((none - ln).to_numpy(), unit, "")
    return replace(found, evidence=f"none {shown(none.mean())}, ln {shown(ln.mean())}")


def log_ratio(name: str) -> Measure:
    """Return the measure log2 of a variance over that at the training lengths."""
    return lambda models: (models[name] / models[f"trained_{name}"]).map(np.log2)


def drifts(task: str, evidence: Evidence) -> Judgement:
    """Judge whether without a normaliser the global mean of O moves away from that of training."""
    found = changes("none", squared_drift, HUNDREDTHS, task, evidence)
    return replace(found, evidence=f"none {distance(found.ours)}")


def squared_drift(models: pd.DataFrame) -> pd.Series:
    """Return the squared drift of the global mean of normalised O from that at the training lengths, in HUNDREDTHS.

    Less its sampling error: where nothing drifts, means of finitely many sequences differ all the same.
    """
    moved = (models["mean_after"] - models["trained_mean_after"]) ** 2
    sampling = models["mean_se_after"] ** 2
    trained_sampling = models["trained_mean_se_after"] ** 2
    return 1e4 * ((moved - sampling - trained_sampling) / models["trained_variance_after"])


def distance(squared: float) -> str:
    """Return a mean squared drift as a root mean square, which is 0 where it is within its sampling error."""
    root = max(squared, 0.0) ** 0.5 / 100
    return f"{root:.2g} sd"


def _values(evidence: Evidence, task: str, norm: str, measure: Measure) -> pd.Series:
    """Return a number by seed, of the seeds whose models were measured so."""
    models = evidence.inside(task, norm)
    return measure(models).groupby(models["seed"]).mean().dropna()


def _require_values(values: pd.Series, evidence: Evidence, task: str, *norms: str) -> None:
    """Raise NotTestedError where there are no values."""
    if values.empty:
        evidence.require([task], "short", *norms)
        raise NotTestedError(f"no models of {task} were measured beyond training")
