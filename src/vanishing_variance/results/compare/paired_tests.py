"""Every paired test of the study, by every rule and at every length: the source of tables, metrics and claims.

Accuracies are fractions in the raw results; here they are in percent, and differences in percentage points.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.results.compare.pairs import pairs
from vanishing_variance.statistics.components import Components, components
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.paired import difference

# Whether each answer of a variant (task, range, norm) is correct, by `<rule>-<length>`: (seeds, sequences) bool.
Answers = Callable[[str, str, str], Mapping[str, np.ndarray]]
NAMES = ["task", "range", "treatment", "baseline", "rule", "length"]
TREATMENT = ["treatment_mean", "treatment_low", "treatment_high"]
BASELINE = ["baseline_mean", "baseline_low", "baseline_high"]
COLUMNS = (
    *(*NAMES, *TREATMENT, *BASELINE),
    *("n", "difference", "low", "high", "d_z", "p"),
    *("se", "share_seeds", "share_sequences", "share_both", "p_holm"),
)


def paired_tests(accuracy: pd.DataFrame, answers: Answers | None, norm: str, ranges: Sequence[str]) -> pd.DataFrame:
    """Return a row a task, range, treatment, baseline, rule and length, over the seeds that both variants have.

    `n` seeds; `treatment_mean`, `baseline_mean` in percent with their 95% t intervals (`…_low`, `…_high`); the fields
    of `Difference` in percentage points; `p_holm`, p corrected over the lengths of one rule (one row of a table); `se`,
    the standard error of the difference with what the shared test sequences add to it, and of its square the shares of
    seeds, sequences and both (`share_seeds`, `share_sequences`, `share_both`), nothing without `answers`.
    """
    tests = pd.DataFrame(_tests(accuracy, answers, norm, ranges), columns=COLUMNS)
    tests["p_holm"] = tests.groupby(NAMES[:-1])["p"].transform(lambda p: holm(p.to_numpy()))
    return tests


def _tests(
    accuracy: pd.DataFrame, answers: Answers | None, norm: str, ranges: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the test of each pair at each length."""
    for pair, ours, theirs in pairs(accuracy, norm, ranges):
        both = (pair.treatment, pair.baseline)
        correct = [answers(pair.task, pair.range_, variant) for variant in both] if answers else []
        for length in theirs.columns:
            treated = ours[length].to_numpy()
            untreated = theirs[length].to_numpy()
            test = difference(treated, untreated)
            sources = Components()
            if correct:
                percent = [100.0 * variant[f"{pair.rule}-{length}"] for variant in correct]
                sources = components(percent[0] - percent[1])
            row = dict(zip(NAMES, (*pair, int(length)), strict=True))
            row |= dict(zip(TREATMENT, interval(treated), strict=True))
            row |= dict(zip(BASELINE, interval(untreated), strict=True))
            yield row | {"difference": test.mean} | vars(test) | vars(sources)
