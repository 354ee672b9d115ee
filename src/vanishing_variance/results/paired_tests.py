"""Every paired test of the study, at every temperature and length: what tables, metrics and claims are made of.

Accuracies are fractions in the raw results; here they are in percent, and differences in percentage points.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.runs import RANGES, TASKS, TEMPERATURES, compared
from vanishing_variance.results.accuracy import pair
from vanishing_variance.statistics.components import Components, components
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.paired import paired

# Whether each answer of a variant is right, by `<temperature>-<length>`: (seeds, sequences) bool.
Answers = Callable[[str, str, str], Mapping[str, np.ndarray]]
_NAMES = ["task", "range", "treatment", "baseline", "temperature", "length"]


def paired_tests(
    accuracy: pd.DataFrame, answers: Answers | None, norm: str, root: int, ranges: Sequence[str] = RANGES
) -> pd.DataFrame:
    """Return a row a task, range, treatment, baseline, temperature and length, over the seeds that both variants have.

    Pairs without a common seed are left out.

    `n` seeds; `treatment_mean`, `baseline_mean` in percent with their 95% t intervals (`…_low`, `…_high`); the fields
    of `Comparison` in percentage points, with `p_wilcoxon` and `seeds_for_power`; `p_holm`, p corrected over the
    lengths of one temperature (one row of a table); `se`, the standard error of the difference with what the shared
    test sequences add to it, and of its square the shares of seeds, sequences and both (`share_seeds`,
    `share_sequences`, `share_both`), nothing without `answers`. The bootstrap's streams are derived from `root`.
    """
    rows = []
    pairs = [(task, range_, *both) for task in TASKS for range_ in ranges for both in compared(range_, norm)]
    for task, range_, treatment, baseline in pairs:
        right = {one: answers(task, range_, one) if answers else {} for one in (treatment, baseline)}
        for temperature in TEMPERATURES:
            ours, theirs = pair(accuracy, task, range_, treatment, baseline, temperature)
            for length in theirs.columns if len(theirs) else []:
                names = (task, range_, treatment, baseline, temperature, int(length))
                test = paired(ours[length].to_numpy(), theirs[length].to_numpy(), stream(root, "bootstrap", *names))
                answered = [of[f"{temperature}-{length}"].astype(float) * 100 for of in right.values() if of]
                rows.append(
                    dict(zip(_NAMES, names, strict=True))
                    | _mean("treatment", ours[length])
                    | _mean("baseline", theirs[length])
                    | {"difference": test.mean}
                    | vars(test)
                    | vars(components(answered[0] - answered[1]) if answered else Components())
                )
    tests = pd.DataFrame(rows, columns=CSV["tests"])
    tests["seeds_for_power"] = pd.to_numeric(tests["seeds_for_power"])  # None is NaN
    tests["p_holm"] = tests.groupby(_NAMES[:-1])["p"].transform(lambda p: holm(p.to_numpy()))
    return tests


def select(tests: pd.DataFrame, task: str, range_: str, treatment: str, baseline: str) -> pd.DataFrame:
    """Return the tests of one treatment against one baseline, `plain` first, lengths increasing."""
    of = tests.query("task == @task and range == @range_ and treatment == @treatment and baseline == @baseline")
    return of.reset_index(drop=True)


def _mean(role: str, accuracies: pd.Series) -> dict[str, float]:
    """Return the mean over seeds and its 95% t interval."""
    return dict(zip((f"{role}_mean", f"{role}_low", f"{role}_high"), interval(accuracies.to_numpy()), strict=True))
