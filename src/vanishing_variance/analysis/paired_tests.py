"""Every paired test of the study, at every temperature and length: what tables, metrics and claims are made of.

Accuracies are fractions in the raw results; here they are in percent, and differences in percentage points.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from vanishing_variance.core.seeding import stream
from vanishing_variance.statistics.components import Components, components
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.paired import Comparison, paired
from vanishing_variance.study.columns import CSV
from vanishing_variance.study.results import by_seed, of_both
from vanishing_variance.study.runs import RANGES, TASKS, TEMPERATURES, compared

# Whether each answer of a variant is right, by `<temperature>-<length>`: (seeds, sequences) bool.
Answers = Callable[[str, str, str], Mapping[str, np.ndarray]]


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
    frames = [
        _tests(accuracy, answers, root, task, range_, treatment, baseline)
        for task in TASKS
        for range_ in ranges
        for treatment, baseline in compared(range_, norm)
    ]
    there = [frame for frame in frames if len(frame)]
    return pd.concat(there, ignore_index=True) if there else pd.DataFrame(columns=CSV["tests"])


def select(tests: pd.DataFrame, task: str, range_: str, treatment: str, baseline: str) -> pd.DataFrame:
    """Return the tests of one treatment against one baseline, `plain` first, lengths increasing."""
    of = tests.query("task == @task and range == @range_ and treatment == @treatment and baseline == @baseline")
    return of.reset_index(drop=True)


def _tests(
    accuracy: pd.DataFrame, answers: Answers | None, root: int, task: str, range_: str, treatment: str, baseline: str
) -> pd.DataFrame:
    names = {"task": task, "range": range_, "treatment": treatment, "baseline": baseline}
    right = {norm: answers(task, range_, norm) if answers else {} for norm in (treatment, baseline)}
    rows = []
    for temperature in TEMPERATURES:
        ours, theirs = of_both(*(by_seed(accuracy, task, range_, norm, temperature) for norm in (treatment, baseline)))
        for length in theirs.columns if len(theirs) else []:
            rng = stream(root, "bootstrap", *names.values(), temperature, int(length))
            test = paired(ours[length].to_numpy(), theirs[length].to_numpy(), rng)
            means = _mean("treatment", ours[length]) | _mean("baseline", theirs[length])
            name = f"{temperature}-{length}"
            answered = [of[name].astype(float) * 100 for of in right.values() if of]
            rows.append(
                {**names, "temperature": temperature, "length": int(length), **means}
                | _columns(test)
                | vars(components(answered[0] - answered[1]) if answered else Components())
            )
    tests = pd.DataFrame(rows)
    if tests.empty:
        return tests
    for name in tests.columns.difference([*names, "temperature", "note"]):
        tests[name] = pd.to_numeric(tests[name])  # None is NaN
    tests["p_holm"] = tests.groupby("temperature")["p"].transform(lambda p: holm(p.to_numpy()))
    return tests[[*(name for name in tests if name != "note"), "note"]]


def _mean(role: str, accuracies: pd.Series) -> dict[str, float]:
    """Return the mean over seeds and its 95% t interval."""
    return dict(zip((f"{role}_mean", f"{role}_low", f"{role}_high"), interval(accuracies.to_numpy()), strict=True))


def _columns(test: Comparison) -> dict[str, object]:
    renamed = {"wilcoxon": "p_wilcoxon"}
    return {renamed.get(name, name): value for name, value in vars(test).items()}
