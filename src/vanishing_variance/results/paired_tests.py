"""Every paired test of the study, by every rule and at every length: the source of tables, metrics and claims.

Accuracies are fractions in the raw results; here they are in percent, and differences in percentage points.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.runs import RULES, TASKS, compared
from vanishing_variance.results.accuracy import pair
from vanishing_variance.statistics.components import Components, components
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.paired import paired

# Whether each answer of a variant (task, range, norm) is correct, by `<rule>-<length>`: (seeds, sequences) bool.
Answers = Callable[[str, str, str], Mapping[str, np.ndarray]]
NAMES = ["task", "range", "treatment", "baseline", "rule", "length"]
TREATMENT = ["treatment_mean", "treatment_low", "treatment_high"]
BASELINE = ["baseline_mean", "baseline_low", "baseline_high"]
COLUMNS = (
    *(*NAMES, *TREATMENT, *BASELINE),
    *("n", "difference", "low", "high", "boot_low", "boot_high", "d_z"),
    *("p", "p_wilcoxon", "seeds_for_power", "se", "share_seeds", "share_sequences", "share_both", "p_holm", "note"),
)


def paired_tests(
    accuracy: pd.DataFrame, answers: Answers | None, norm: str, root: int, ranges: Sequence[str]
) -> pd.DataFrame:
    """Return a row a task, range, treatment, baseline, rule and length, over the seeds that both variants have.

    Pairs without a common seed are left out.

    `n` seeds; `treatment_mean`, `baseline_mean` in percent with their 95% t intervals (`…_low`, `…_high`); the fields
    of `Comparison` in percentage points, with `p_wilcoxon` and `seeds_for_power`; `p_holm`, p corrected over the
    lengths of one rule (one row of a table); `se`, the standard error of the difference with what the shared
    test sequences add to it, and of its square the shares of seeds, sequences and both (`share_seeds`,
    `share_sequences`, `share_both`), nothing without `answers`. The bootstrap's streams are derived from `root`.
    """
    rows: list[dict[str, Any]] = []
    for task in TASKS:
        for range_ in ranges:
            for treatment, baseline in compared(range_, norm):
                rows += _tests(accuracy, answers, root, task, range_, treatment, baseline)
    tests = pd.DataFrame(rows, columns=COLUMNS)
    tests["seeds_for_power"] = pd.to_numeric(tests["seeds_for_power"])  # None is NaN
    tests["p_holm"] = tests.groupby(NAMES[:-1])["p"].transform(lambda p: holm(p.to_numpy()))
    return tests


def _tests(
    accuracy: pd.DataFrame, answers: Answers | None, root: int, task: str, range_: str, treatment: str, baseline: str
) -> Iterator[dict[str, Any]]:
    """Yield the tests of one pair, by each rule and at each length."""
    correct = [answers(task, range_, norm) for norm in (treatment, baseline)] if answers else []
    for rule in RULES:
        ours, theirs = pair(accuracy, task, range_, treatment, baseline, rule)
        if theirs.empty:
            continue
        for length in theirs.columns:
            names = (task, range_, treatment, baseline, rule, int(length))
            treated = ours[length].to_numpy()
            untreated = theirs[length].to_numpy()
            test = paired(treated, untreated, stream(root, "bootstrap", *names))
            sources = Components()
            if correct:
                percent = [100.0 * variant[f"{rule}-{length}"] for variant in correct]
                sources = components(percent[0] - percent[1])
            row = dict(zip(NAMES, names, strict=True))
            row |= dict(zip(TREATMENT, interval(treated), strict=True))
            row |= dict(zip(BASELINE, interval(untreated), strict=True))
            yield row | {"difference": test.mean} | vars(test) | vars(sources)
