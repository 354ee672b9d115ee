"""Views of a gain: points beyond training, log-odds by length, and what is left at equal accuracy in training.

And every gain of the study as Markdown.

S seeds.
"""

from collections.abc import Mapping

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.compare.pairs import of_both, pairs, percent_beyond
from vanishing_variance.statistics.adjusted import Estimate, adjusted
from vanishing_variance.statistics.anytime import anytime_interval
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.statistics.log_odds import log_odds
from vanishing_variance.statistics.paired import Difference, difference

# Of the names of an estimate and the ends of its interval.
ENDS = ("", "_low", "_high")
UNKNOWN: Estimate = (NAN, NAN, NAN)
# Seeds of an interval that boards show.
FEWEST = 3
# By the name of a view: its head in a table, and Python's format.
VIEWS = {
    "difference": ("beyond (pp)", "+.1f"),
    "log_odds": ("log-odds, shortest", "+.2f"),
    "log_odds_longest": ("log-odds, longest", "+.2f"),
    "at_baseline_accuracy": ("at its baseline's accuracy (pp)", "+.1f"),
    "at_own_accuracy": ("at its own accuracy (pp)", "+.1f"),
}
NOTE = (
    "Gains are paired by seed, with 95% intervals over n seeds. *Beyond*: accuracy, the mean over the lengths beyond "
    "training. *Log-odds*: their difference at the shortest test length, which is one of training, and at the longest. "
    "*At its baseline's accuracy*, *at its own*: the points beyond training that are left at equal log-odds at the "
    "shortest length, the mean of either arm, by a regression line an arm, not paired, extrapolated where the arms do "
    "not overlap; it describes: that accuracy is an effect of the treatment, too, and as it is measured with error, "
    "too little is taken off."
)

HEAD = ["task", "range", "gain", "rule", "n"]
ANYTIME_NOTE = (
    "*Anytime*: the points beyond training once more, with an interval that stays valid after every block of seeds "
    "(mixture t confidence sequence), where the usual one is for one look."
)


def gain(
    ours: pd.DataFrame, theirs: pd.DataFrame, longest: int, sequences: int
) -> tuple[Difference, dict[str, Estimate]]:
    """Return the points that `ours` gains over `theirs` beyond the training lengths, and VIEWS of it with intervals.

    Accuracies are in percent, a row a seed, a column a length, increasing; over the seeds that both have. `longest`: of
    training; `sequences`: how many each accuracy is of. `log_odds`: the difference at the shortest length, within those
    of training, and `log_odds_longest`. `at_baseline_accuracy`, `at_own_accuracy`: the points that are left at equal
    log-odds at the shortest length (`statistics.adjusted`). Where there is no length of training, or fewer than two
    seeds, the points alone.
    """
    ours, theirs = of_both(ours, theirs)
    lengths = theirs.columns.to_numpy(dtype=float)
    treated, untreated = (percent_beyond(arm, longest).to_numpy() for arm in (ours, theirs))
    points = difference(treated, untreated)
    views = dict.fromkeys(VIEWS, UNKNOWN) | {"difference": (points.mean, points.low, points.high)}
    if points.n < 2 or lengths[0] > longest:
        return points, views
    our_odds, their_odds = (log_odds(arm[theirs.columns].to_numpy() / 100, sequences) for arm in (ours, theirs))
    by_length = our_odds - their_odds
    views["log_odds"] = interval(by_length[:, 0])
    views["log_odds_longest"] = interval(by_length[:, -1])
    at_equal = adjusted(treated, untreated, our_odds[:, 0], their_odds[:, 0])
    views["at_baseline_accuracy"], views["at_own_accuracy"] = at_equal
    return points, views


def columns(name: str, values: Estimate) -> dict[str, float]:
    """Return an estimate by its name, and the ends of its interval as `<name>_low` and `<name>_high`."""
    return dict(zip((f"{name}{end}" for end in ENDS), values, strict=True))


def texts(frame: pd.DataFrame, name: str, how: str, factor: float = 1) -> list[str]:
    """Return the estimate of this name in each row with `columns`, times `factor`, as `harness.numbers.estimate`."""
    numbers = factor * frame[[f"{name}{end}" for end in ENDS]].to_numpy(dtype=float)
    return [estimate(how, *row) for row in numbers]


def texts_of_seeds(frame: pd.DataFrame, name: str, how: str, n: str) -> list[str]:
    """Return `texts`, with words for the interval of fewer than FEWEST seeds; the column `n` has how many there are."""
    found = []
    for text, value, seeds in zip(texts(frame, name, how), frame[name], frame[n], strict=True):
        is_few = not pd.isna(value) and seeds < FEWEST
        found.append(f"{estimate(how, value)} [too few seeds]" if is_few else text)
    return found


def gains_table(accuracy: pd.DataFrame, norm: str, longest: Mapping[str, int], sequences: int) -> str:
    """Return a table, a row a pair of `compared` and rule.

    `longest` is the training length by range; each accuracy is of so many `sequences`.
    """
    rows = []
    for pair, ours, theirs in pairs(accuracy, norm, list(longest)):
        _, views = gain(ours, theirs, longest[pair.range_], sequences)
        treated, untreated = (percent_beyond(arm, longest[pair.range_]).to_numpy() for arm in (ours, theirs))
        head = [pair.task, pair.range_, f"{pair.treatment} − {pair.baseline}", pair.rule, str(len(theirs))]
        anytime = estimate("+.1f", *anytime_interval(treated - untreated))
        rows.append([*head, *(estimate(how, *views[name]) for name, (_, how) in VIEWS.items()), anytime])
    heads = [head for head, _ in VIEWS.values()]
    parts = ["# Gains", table([*HEAD, *heads, "anytime (pp)"], rows, texts=4), NOTE, ANYTIME_NOTE]
    return "\n\n".join(parts) + "\n"
