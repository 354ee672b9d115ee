"""Columns of the inside of models beyond the training lengths: of one line, or of one less another."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.paper import Claim, Measured, by_seed
from vanishing_variance.claims.verdict import NotTestedError
from vanishing_variance.results.arms import of_both
from vanishing_variance.results.columns import rows
from vanishing_variance.statistics.intervals import mean_estimate


def inside(claim: Claim, evidence: Evidence) -> Measured:
    """Measure the mean of FUNCTIONS with the treatment; with a baseline, that of the baseline less it."""
    task = claim.pair.task
    unit, function = FUNCTIONS[claim.statistic]
    lines = [line for line in (claim.baseline, claim.treatment) if line]
    means = []
    for line in lines:
        models = rows(evidence.mechanism, task=task, line=line)
        beyond = models[models["length"] > evidence.training.longest.get(line, 0)]
        at_both = beyond.assign(now=beyond[claim.column], trained=beyond.get(f"trained_{claim.column}"))
        means.append(function(at_both).groupby(beyond["seed"]).mean().dropna())
    if claim.baseline:
        means = list(of_both(*means))
    if means[0].empty:
        raise NotTestedError(f"no models of {task} with {' and '.join(lines)} alike were measured beyond training")
    values = means[0] - means[1] if claim.baseline else means[0]
    words = mean_estimate(values.to_numpy(), ".3g")
    if claim.baseline or function is _drift:
        how = _distance if function is _drift else "{:.3g}".format
        both = zip(lines, means, strict=True)
        words = ", ".join(f"{line} {how(of_line.mean())}" for line, of_line in both)
    return by_seed(values.to_numpy(), unit, words)


def _drift(models: pd.DataFrame) -> pd.Series:
    """Return the squared drift of the mean of normalised O from that at the training lengths, in FUNCTIONS' unit.

    Less its sampling error: where nothing drifts, means of finitely many sequences differ all the same.
    """
    moved = (models["now"] - models["trained"]) ** 2
    sampling = models["mean_se_after"] ** 2 + models["trained_mean_se_after"] ** 2
    return 1e4 * (moved - sampling) / models["trained_variance_after"]


def _distance(squared: float) -> str:
    """Return a mean squared drift as a root mean square, which is 0 where it is within its sampling error."""
    root = max(squared, 0.0) ** 0.5 / 100
    return f"{root:.2g} sd"


# By the name of a statistic: its unit, and a number from a column `now` and what it was where `trained`.
FUNCTIONS: dict[str, tuple[str, Callable[[pd.DataFrame], pd.Series]]] = {
    "fall": ("log2 ratio", lambda models: (models["trained"] / models["now"]).map(np.log2)),
    "change": ("absolute log2 ratio", lambda models: (models["now"] / models["trained"]).map(np.log2).abs()),
    "level": ("sd", lambda models: models["now"]),
    "excess": ("sd", lambda models: models["now"] - models["trained"]),
    "rest": ("% of the weight", lambda models: 100 * (1 - models["now"])),
    "drift": ("(0.01 sd)²", _drift),
}
