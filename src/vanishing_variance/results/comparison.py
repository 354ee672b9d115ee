"""The one comparison of two lines: a tidy frame of statistics, and the register of these.

Accuracies are fractions in results and percent here; differences are percentage points. S seeds.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool
from scipy import stats

from vanishing_variance.harness.numbers import estimate
from vanishing_variance.measure.parts import PARTS, WRONG
from vanishing_variance.results.columns import LAST, LOSS, NO_ANSWER, rows
from vanishing_variance.results.runs import RULES
from vanishing_variance.statistics.adjusted import Estimate, adjusted
from vanishing_variance.statistics.comparisons import Difference, holm
from vanishing_variance.statistics.comparisons import difference as paired_test
from vanishing_variance.statistics.components import Components, components
from vanishing_variance.statistics.intervals import NAN, anytime_interval, interval
from vanishing_variance.statistics.log_odds import log_odds

# A scope is a test length, or the mean over the lengths beyond training.
BEYOND = "beyond"
# Which scopes a view asks for, beside BEYOND.
LENGTHS, SHORTEST, LONGEST = "lengths", "shortest", "longest"
Scope = int | str
# Lengths of the paper's tests that tables show, where they were tested, beside the mean of all.
SHOWN = (2**8, 2**11, 2**14)
# A number a model of either arm.
Covariates = tuple["pd.Series[float]", "pd.Series[float]"]
KEYS = ["task", "line", "baseline", "rule"]
COLUMNS = [*KEYS, "scope", "statistic", "value", "low", "high", "n"]
# By the name of a column: the statistic, and the scope.
Columns = Mapping[str, tuple[str, Any]]
# Before a part's name in that of a statistic: by how much a line has less of it.
GAINED = "gain_"
# Of the names of an estimate and the ends of its interval.
ENDS = {"value": "", "low": "_low", "high": "_high"}
# Results have losses to 1e-6: the logarithm of smaller ones is rounding.
SMALLEST_LOSS = 1e-5
# Whether each answer of a line on a task (task, line) is correct, by `<rule>-<length>`: (seeds, sequences).
Answers = Callable[[str, str], Mapping[str, Bool[np.ndarray, "S I"]]]


def by_length(results: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column of results, a row a seed and a column a length, both increasing."""
    wide = results.pivot(index="seed", columns="length", values=column).astype(float)
    return wide.set_axis(wide.columns.astype(int), axis=1)


def percent_by_length(results: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies in percent, a row a seed and a column a length, both increasing."""
    return 100 * by_length(results, "accuracy")


def mean_beyond(values: pd.DataFrame, longest: int) -> "pd.Series[float]":
    """Return each seed's mean over the lengths, columns, beyond `longest`, of training."""
    return values.loc[:, values.columns.to_numpy() > longest].mean(axis=1)


def of_both(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Return the rows of two frames or series of the seeds that both have, in the same order."""
    both = theirs.index.intersection(ours.index)
    return ours.loc[both], theirs.loc[both]


@dataclass(frozen=True, eq=False)
class Arms:
    """The results of a line and of its baseline on one task by one rule, rows of `by_rule`; of the latter maybe none.

    `longest`: the longest training length; each accuracy is of so many `sequences`. `answers`: of both, by length.
    """

    line: pd.DataFrame
    baseline: pd.DataFrame
    longest: int
    sequences: int
    rule: str = LAST
    answers: Sequence[Mapping[str, Bool[np.ndarray, "S I"]]] = ()

    @cached_property
    def ours(self) -> pd.DataFrame:
        """The line's accuracies, a row a seed and a column a scope."""
        return self._with_beyond(percent_by_length(self.line))

    @cached_property
    def theirs(self) -> pd.DataFrame:
        """The same of the baseline."""
        return self._with_beyond(percent_by_length(self.baseline))

    @cached_property
    def paired(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The accuracies of both, of the seeds that both have."""
        ours, theirs = of_both(self.ours, self.theirs)
        return ours.reindex(columns=theirs.columns), theirs

    @cached_property
    def gains(self) -> pd.DataFrame:
        """The line's accuracies minus the baseline's, of the seeds that both have."""
        ours, theirs = self.paired
        return ours - theirs

    @property
    def lengths(self) -> list[int]:
        """The test lengths."""
        return [int(scope) for scope in self.ours.columns if scope != BEYOND]

    def scopes(self, which: str) -> Sequence[Scope]:
        """Return the scopes that a view asks for: BEYOND, LENGTHS, SHORTEST or LONGEST."""
        ends = {LENGTHS: self.lengths, SHORTEST: self.lengths[:1], LONGEST: self.lengths[-1:]}
        return ends.get(which, [which])

    def inside(self, results: pd.DataFrame, name: str) -> pd.DataFrame:
        """Return what was measured inside the models of one arm, a row a seed and a column a scope."""
        return self._with_beyond(by_length(results, name))

    def _with_beyond(self, values: pd.DataFrame) -> pd.DataFrame:
        return values.assign(**{BEYOND: mean_beyond(values, self.longest)})


class Pair(NamedTuple):
    """A line and its baseline on one task by one rule."""

    task: str
    line: str
    baseline: str
    rule: str = LAST


def compare(
    tested: pd.DataFrame,
    pairs: Iterable[tuple[str, str]],
    longest: Mapping[str, int],
    sequences: int,
    wanted: Collection[tuple[str, str]],
    rules: Iterable[str] = RULES,
    answers: Answers | None = None,
) -> pd.DataFrame:
    """Return COLUMNS, a row a task, line, baseline, rule, scope and statistic: its value, 95% interval and n seeds.

    `tested`: results by rule (`schema.by_rule`); `pairs`: lines and their baselines, "" for a line alone;
    `longest`: the longest training length by line; `wanted`: statistics, each with the scopes that it is asked at. With
    `p` there is `p_holm`: at a length corrected over the lengths, and beyond training over the pairs, of a task, rule
    and longest training length. A line of which a training diverged has no rows, and as a baseline is left out.
    """
    found = []
    pairs_and_rules = list(product(pairs, rules))
    for task, of_task in tested.groupby("task", sort=False):
        by_line = {line: of_line for line, of_line in of_task.groupby("line") if of_line["note"].isna().all()}
        for (line, baseline), rule in pairs_and_rules:
            ours, theirs = (rows(by_line.get(name, of_task[:0]), rule=rule) for name in (line, baseline))
            if len(ours):
                names = [name for name in (line, baseline) if name]
                correct = [answers(str(task), name) for name in names] if answers else []
                arms = Arms(ours, theirs, longest[line], sequences, rule, correct)
                found += [(task, line, baseline, rule, *row) for row in _statistics(arms, wanted)]
    frame = pd.DataFrame(found, columns=COLUMNS)
    return _with_holm(frame.assign(longest=frame["line"].map(longest)))[COLUMNS]


def _statistics(arms: Arms, wanted: Collection[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each wanted statistic that the arms have: scope, statistic, value, low, high, n."""
    asked = {(name, scope): None for name, which in wanted for scope in arms.scopes(which)}
    for name, scope in asked:
        statistic = STATISTICS[name]
        if statistic.of_pair and arms.theirs.empty:
            continue
        value = statistic.of(arms, scope)
        if value is not None:
            ends = value if isinstance(value, tuple) else (value, NAN, NAN)
            seeds = arms.gains if statistic.of_pair else arms.ours
            yield scope, name, *ends, len(seeds)


def _with_holm(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame, with the longest training length, with `p_holm` below it."""
    tests = rows(frame, statistic="p").assign(statistic="p_holm")
    is_beyond = tests["scope"] == BEYOND
    of_lengths = tests[~is_beyond].groupby(KEYS, sort=False)["value"]
    of_pairs = tests[is_beyond].groupby(["task", "rule", "longest"], sort=False)["value"]
    for family in (of_lengths, of_pairs):
        corrected = family.transform(lambda p: holm(p.to_numpy(dtype=float)))
        tests.loc[corrected.index, "value"] = corrected
    return pd.concat([frame, tests], ignore_index=True)


def spread(frame: pd.DataFrame, *more_keys: str) -> pd.DataFrame:
    """Return a row a value of KEYS and `more_keys`, in their order, and four columns a statistic.

    `<statistic>`, `<statistic>_low`, `<statistic>_high` and `<statistic>_n`.
    """
    keys = [*KEYS, *more_keys]
    first = frame.drop_duplicates(keys).set_index(keys).index
    parts = []
    for column, end in {**ENDS, "n": "_n"}.items():
        parts.append(frame.pivot(index=keys, columns="statistic", values=column).add_suffix(end))
    wide = pd.concat(parts, axis=1).reindex(first).astype(float)
    return wide.rename_axis(columns=None).reset_index()


def view(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return `spread` of the statistics that columns name, by these names; NaN where there is none."""
    lengths = frame["scope"][frame["scope"] != BEYOND]
    ends = {SHORTEST: lengths.min(), LONGEST: lengths.max()} if len(lengths) else {}
    parts = []
    for name, (statistic, which) in columns.items():
        scope = ends.get(which, which)
        of_column = rows(frame, statistic=statistic, scope=scope)
        parts.append(of_column.assign(statistic=name))
    names = [f"{name}{end}" for name in columns for end in (*ENDS.values(), "_n")]
    return spread(pd.concat(parts)).reindex(columns=[*KEYS, *names])


def head(column: tuple[str, Any]) -> str:
    """Return the words of a column above it."""
    statistic, which = column
    words = STATISTICS[statistic].head
    return f"{words}, {which}" if which in (SHORTEST, LONGEST) else words


def estimates(frame: pd.DataFrame, columns: Columns) -> dict[str, list[str]]:
    """Return the estimates of a view as text, by the words above them, in the formats of their statistics."""
    cells = {}
    for name, column in columns.items():
        cells[head(column)] = texts(frame, name, STATISTICS[column[0]].how)
    return cells


def estimate_of(arms: Arms, name: str, scope: Scope = BEYOND) -> Estimate:
    """Return a statistic of two arms and its interval, which is NaN where there is none."""
    value = STATISTICS[name].of(arms, scope)
    return value if isinstance(value, tuple) else (NAN if value is None else value, NAN, NAN)


def texts(frame: pd.DataFrame, name: str, how: str, factor: float = 1) -> list[str]:
    """Return the estimate of this name in each row with `columns`, times `factor`, as `harness.numbers.estimate`."""
    numbers = factor * frame.reindex(columns=[f"{name}{end}" for end in ENDS.values()]).to_numpy(dtype=float)
    return [estimate(how, *row) for row in numbers]


def columns(name: str, values: Estimate) -> dict[str, float]:
    """Return an estimate by its name, and the ends of its interval as `<name>_low` and `<name>_high`."""
    return dict(zip((f"{name}{end}" for end in ENDS.values()), values, strict=True))


def _mean(of_seeds: "pd.Series[float]") -> Estimate:
    return interval(of_seeds.to_numpy())


def _target(arms: Arms, scope: Scope) -> Estimate | None:
    """Return the attention weight of the item with the answer, as trained."""
    if arms.rule != LAST:
        return None
    weights = arms.inside(arms.line, "target")[scope]
    in_order = weights[arms.line["seed"].unique()]  # of the results, which decides the last digit of boards in git
    return _mean(in_order)


def _part(name: str, arms: Arms, scope: Scope) -> Estimate | None:
    """Return the percentage of the sequences whose answers are in a part; none where it was not measured."""
    of_seeds = _percent(arms, arms.line, name, scope)
    return _mean(of_seeds) if len(of_seeds) else None


def _fewer(name: str, arms: Arms, scope: Scope) -> Estimate | None:
    """Return by how many points fewer answers of a line are in a part than of its baseline, paired by seed."""
    ours, theirs = of_both(*(_percent(arms, results, name, scope) for results in (arms.line, arms.baseline)))
    return _mean(theirs - ours) if len(ours) else None


def _percent(arms: Arms, results: pd.DataFrame, name: str, scope: Scope) -> "pd.Series[float]":
    measured = results[results[name].notna()] if name in results else results[:0]
    return 100 * arms.inside(measured, name).get(scope, pd.Series(dtype=float))


def _variance_ratio(arms: Arms, scope: Scope) -> float | None:
    """Return the variance of O over that at the shortest length, as trained, the geometric mean over seeds."""
    if arms.rule != LAST:
        return None
    variance = arms.inside(arms.line, "variance")
    return float(stats.gmean((variance[scope] / variance[arms.lengths[0]]).to_numpy()))


def _no_answer(arms: Arms, _: Scope) -> float | None:
    """Return the largest fraction of the answers of a model at a length that are not a number, where there are any."""
    missing = arms.line[NO_ANSWER].max() if NO_ANSWER in arms.line else 0
    return float(missing) if missing > 0 else None


@lru_cache(maxsize=64)
def paired(arms: Arms, scope: Scope = BEYOND) -> Difference:
    """Return the test of a line against its baseline, paired by seed."""
    ours, theirs = arms.paired
    return paired_test(ours[scope].to_numpy(), theirs[scope].to_numpy())


def _difference(arms: Arms, scope: Scope) -> Estimate:
    test = paired(arms, scope)
    return test.mean, test.low, test.high


def _all_seeds(arms: Arms, scope: Scope) -> Estimate | None:
    """Return the difference of the means of all seeds by Welch's interval, where the baseline has more than paired."""
    if not len(arms.theirs) > len(arms.gains) > 1:
        return None
    ours, theirs = arms.ours[scope], arms.theirs[scope]
    low, high = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
    return float(ours.mean() - theirs.mean()), float(low), float(high)


def _log_odds(arms: Arms, scope: Scope) -> Estimate | None:
    """Return the difference of the log-odds, paired by seed; none without a length of training and two seeds."""
    ours, theirs = _odds(arms, scope)
    return _mean(ours - theirs) if len(ours) else None


def _odds(arms: Arms, scope: Scope) -> Covariates:
    gains = arms.gains[scope]
    if len(gains) < 2 or arms.lengths[0] > arms.longest:
        return gains[:0], gains[:0]
    ours, theirs = (log_odds(arm[scope].to_numpy() / 100, arms.sequences) for arm in arms.paired)
    return pd.Series(ours, gains.index), pd.Series(theirs, gains.index)


def _accuracies(arms: Arms) -> Covariates:
    """Return the log-odds at the shortest length."""
    return _odds(arms, arms.lengths[0])


def _losses(arms: Arms) -> Covariates:
    """Return the log of the losses of all seeds, after the same steps; none where one is below SMALLEST_LOSS."""
    losses = []
    for results in (arms.line, arms.baseline):
        known = results[results["length"] > arms.longest].reindex(columns=["seed", LOSS]).dropna()
        loss = known.groupby("seed")[LOSS].mean().astype(float)
        is_exact = (loss >= SMALLEST_LOSS).all()
        losses.append(loss.map(np.log) if is_exact else loss[:0])
    ours, theirs = losses
    return ours, theirs


@lru_cache(maxsize=4)
def _left(covariates_of: Callable[[Arms], Covariates], arms: Arms, scope: Scope) -> tuple[Estimate, Estimate] | None:
    """Return what is left of a difference at the baseline's mean covariate, and at the line's, by a regression each.

    Nothing where an arm has no covariates, or one is missing.
    """
    covariates = covariates_of(arms)
    if any(values.empty or values.isna().any() for values in covariates):
        return None
    of_arms = zip((arms.ours, arms.theirs), covariates, strict=True)
    outcomes = [accuracies[scope][values.index].to_numpy() for accuracies, values in of_arms]
    return adjusted(*outcomes, *(values.to_numpy() for values in covariates))


def _left_at(end: int, covariates_of: Callable[[Arms], Covariates], arms: Arms, scope: Scope) -> Estimate | None:
    found = _left(covariates_of, arms, scope)
    return found and found[end]


@lru_cache(maxsize=1)
def _components(arms: Arms, scope: Scope) -> Components:
    """Return the components of the uncertainty of a difference at a length; without answers NaN."""
    if not arms.answers or scope == BEYOND:
        return Components()
    ours, theirs = (100.0 * of_arm[f"{arms.rule}-{scope}"] for of_arm in arms.answers)
    return components(ours - theirs)


class Statistic(NamedTuple):
    """A function of arms and a scope, to a number, an estimate with its interval, or None where there is none.

    `head`: its words in a table; `how`: Python's format. `of_pair`: whether it is of the seeds that line and baseline
    have, and not of the line alone.
    """

    of: Callable[[Arms, Any], Estimate | float | None]
    head: str
    how: str
    of_pair: bool = True


STATISTICS = {
    "accuracy": Statistic(lambda arms, scope: _mean(arms.ours[scope]), "accuracy (%)", ".1f", False),
    "no_answer": Statistic(_no_answer, "no answer", ".1%", False),
    "target": Statistic(_target, "target", ".2f", False),
    "variance_ratio": Statistic(_variance_ratio, "variance of O over that at the shortest", ".3f", False),
    # the parts of the answers, and of a gain: the fewer wrong ones of each part, which add up to it
    **{name: Statistic(partial(_part, name), f"{words} (%)", ".1f", False) for name, words in PARTS.items()},
    **{f"{GAINED}{name}": Statistic(partial(_fewer, name), f"fewer {PARTS[name]} (pp)", "+.1f") for name in WRONG},
    # the accuracies of the pairs
    "line_accuracy": Statistic(lambda arms, scope: _mean(arms.paired[0][scope]), "line (%)", ".1f"),
    "baseline_accuracy": Statistic(lambda arms, scope: _mean(arms.paired[1][scope]), "baseline (%)", ".1f"),
    "difference": Statistic(_difference, "beyond (pp)", "+.1f"),
    "d_z": Statistic(lambda arms, scope: paired(arms, scope).d_z, "d_z", "+.2f"),
    "p": Statistic(lambda arms, scope: paired(arms, scope).p, "p", ".2g"),
    "anytime": Statistic(lambda arms, scope: anytime_interval(arms.gains[scope].to_numpy()), "anytime (pp)", "+.1f"),
    "all_seeds": Statistic(_all_seeds, "from all seeds (pp)", "+.1f"),
    "log_odds": Statistic(_log_odds, "log-odds", "+.2f"),
    # the difference that is left at equal covariates
    "at_baseline_accuracy": Statistic(partial(_left_at, 0, _accuracies), "at its baseline's accuracy (pp)", "+.1f"),
    "at_own_accuracy": Statistic(partial(_left_at, 1, _accuracies), "at its own accuracy (pp)", "+.1f"),
    "at_baseline_loss": Statistic(partial(_left_at, 0, _losses), "at its baseline's loss (pp)", "+.1f"),
    "at_own_loss": Statistic(partial(_left_at, 1, _losses), "at its own loss (pp)", "+.1f"),
    # its standard error with what the shared test sequences add, and the shares of its square
    "se": Statistic(lambda arms, scope: _components(arms, scope).se, "standard error (pp)", ".2g"),
    "share_seeds": Statistic(lambda arms, scope: _components(arms, scope).share_seeds, "share of seeds", ".0%"),
    "share_sequences": Statistic(lambda arms, scope: _components(arms, scope).share_sequences, "of sequences", ".0%"),
    "share_both": Statistic(lambda arms, scope: _components(arms, scope).share_both, "of both", ".0%"),
}
# The gain of a line over its baseline, as tables have it.
GAIN: Columns = {
    "difference": ("difference", BEYOND),
    "log_odds": ("log_odds", SHORTEST),
    "log_odds_longest": ("log_odds", LONGEST),
    "at_baseline_accuracy": ("at_baseline_accuracy", BEYOND),
    "at_own_accuracy": ("at_own_accuracy", BEYOND),
}
GAIN_NOTE = (
    "Gains are paired by seed, with 95% intervals over n seeds. *Beyond*: accuracy, the mean over the lengths beyond "
    "training. *Log-odds*: their difference at the shortest test length, which is one of training, and at the longest. "
    "*At its baseline's accuracy*, *at its own*: the points beyond training that are left at equal log-odds at the "
    "shortest length, the mean of either arm, by a regression line an arm, not paired, extrapolated where the arms do "
    "not overlap; it describes: that accuracy is an effect of the treatment, too, and as it is measured with error, "
    "too little is taken off."
)
