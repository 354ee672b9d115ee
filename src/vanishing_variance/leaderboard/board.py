"""The leaderboard as a frame: a row per task, line and rule at test time, ranked by the accuracy beyond training."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.errors import InputError
from vanishing_variance.leaderboard.files import HARD, PLAIN
from vanishing_variance.leaderboard.scores import curves, rounded_interval, seed_scores
from vanishing_variance.leaderboard.standings import TESTS, gains, standings
from vanishing_variance.leaderboard.treatments import Treatment
from vanishing_variance.results.accuracy import rows

# Of those that were tested, the lengths whose accuracy has columns of its own.
SHOWN = (2**4, 2**8, 2**11, 2**14)
# Percent: `longest_90` is the longest length at which the accuracy is as high, there and at all shorter ones.
HIGH = 90.0
# Standard errors over test sequences: by so much can a constant answer, the same in every seed, be above 1/classes.
SAMPLING = 3.0
# States of a line.
FINE, AT_CHANCE, DIVERGED = "ok", "at chance", "diverged"

_KEY = ["line", "rule"]
_RANKS = ["rank", "rank_low", "rank_high"]
_BEYOND = ["beyond", "beyond_low", "beyond_high"]
_ACCURACY = [f"accuracy_{length}{end}" for length in SHOWN for end in ("", "_low", "_high")]
_COUNTS = [*_RANKS, "n", "n_paired", "longest_90", "overall_rank"]
_COLUMNS = [
    *("task", *_RANKS, *_KEY, *Treatment.model_fields, "baseline", "state", "n", *_BEYOND, *TESTS, "p_holm"),
    *(*_ACCURACY, "longest_90", "target_weight", "variance_ratio", "hard", "overall", "overall_rank", "note"),
]


def board(
    accuracy: pd.DataFrame,
    attention: pd.DataFrame,
    treatments: Mapping[str, Treatment],
    *,
    classes: Mapping[str, int],
    sequences: int,
    longest: int,
    diverged: Mapping[tuple[str, str], str],
) -> pd.DataFrame:
    """Return a row per task, line and rule, by task and rank; the first of `treatments` is the baseline.

    `accuracy`: see `scores`; `attention`: task, line, seed, length, target, variance; `classes`: of each task's
    answers; `sequences`: tested at each length; `longest`: the longest training length; `diverged`: the messages by
    task and line, each of which has a row without numbers, its task's last.

    Columns, in percent and percentage points, with 95% t intervals (`..._low`, `..._high`): `rank` within the task by
    `beyond`, the mean accuracy over the lengths beyond training; the `difference` from the baseline (see `standings`);
    `accuracy_<length>`; of rows as trained, at the longest length: `target_weight`, `hard`, the accuracy of hard
    attention, and `variance_ratio`, the variance of O over that at the shortest, the geometric mean over seeds;
    `overall`, the smallest `beyond` of all tasks, and `overall_rank` by it.

    Raises InputError where no test length is longer than `longest`.
    """
    baseline = next(iter(treatments))
    beyond = accuracy[accuracy["length"] > longest]
    if beyond.empty:
        raise InputError(f"leaderboard: no test length is above {longest}, the longest in training; see test.lengths")
    tables = []
    for task in sorted(accuracy["task"].unique()):
        scores = seed_scores(rows(beyond, task=task))
        chance = _highest_of_chance(classes[task], sequences)
        table = standings(scores).assign(task=task, n=len(scores))
        table[_BEYOND] = [rounded_interval(values) for values in scores.to_numpy().T]
        table = table.join(gains(scores, (baseline, PLAIN)))
        table = table.join(_by_length(rows(accuracy, task=task), chance))
        table = table.join(_inside(rows(attention, task=task)))
        tables.append(table.reset_index())
    for (task, line), note in diverged.items():
        row = {"task": task, "line": line, "rule": PLAIN, "state": DIVERGED, "note": note}
        tables.append(pd.DataFrame([row]))
    settings = pd.DataFrame(map(dict, treatments.values()), index=list(treatments))
    table = pd.concat(tables).sort_values(["task", "rank"], ignore_index=True)
    table = table.join(settings, on="line")
    table["baseline"] = (table["line"] == baseline) & (table["rule"] == PLAIN)
    table = table.join(_as_trained(table))
    tested = [name for name in _COLUMNS if name not in _ACCURACY or name in table]
    table = table.reindex(columns=tested)
    table[_COUNTS] = table[_COUNTS].astype("Int64")
    return table


def _as_trained(table: pd.DataFrame) -> pd.DataFrame:
    """Return `overall`, `overall_rank` and `hard`, by the index of the rows as trained."""
    trained = rows(table, rule=PLAIN)
    overall = trained.groupby("line")["beyond"].min(skipna=False).to_frame("overall")
    overall["overall_rank"] = overall["overall"].rank(ascending=False, method="min")
    hard = rows(table, rule=HARD).set_index(["task", "line"])["last"].rename("hard")
    trained = trained.join(overall, on="line").join(hard, on=["task", "line"])
    return trained[["overall", "overall_rank", "hard"]]


def _highest_of_chance(classes: int, sequences: int) -> float:
    """Return the percentage up to which a mean accuracy is not above chance, for the sequences are a sample."""
    chance = 1 / classes
    return 100 * (chance + SAMPLING * math.sqrt(chance * (1 - chance) / sequences))


def _by_length(accuracy: pd.DataFrame, chance: float) -> pd.DataFrame:
    """Return the accuracy at each length, `longest_90` and the state, by line and rule."""
    wide = curves(accuracy).pivot(index=_KEY, columns="length")
    means = pd.DataFrame(wide["mean"])
    table = pd.DataFrame(index=wide.index)
    for length in set(SHOWN) & set(means):
        table[f"accuracy_{length}"] = means[length]
        table[f"accuracy_{length}_low"] = wide["low", length]
        table[f"accuracy_{length}_high"] = wide["high", length]
    is_high = (means >= HIGH).cummin(axis=1)
    longest = is_high.mul(means.columns, axis=1).max(axis=1)
    table["longest_90"] = longest.replace(0, np.nan)
    table["state"] = np.where(means.iloc[:, 0] > chance, FINE, AT_CHANCE)
    table["last"] = means.iloc[:, -1]
    return table


def _inside(attention: pd.DataFrame) -> pd.DataFrame:
    """Return the weight of the target and the variance of O at the longest length, of the lines as trained."""
    by_seed = attention.set_index(["line", "seed"])
    longest = rows(by_seed, length=attention["length"].max())
    shortest = rows(by_seed, length=attention["length"].min())
    ratio = longest["variance"] / shortest["variance"]
    table = pd.DataFrame({"target_weight": longest.groupby("line")["target"].mean()})
    table["variance_ratio"] = ratio.groupby("line").agg(stats.gmean)
    return pd.concat({PLAIN: table.round(6)}, names=["rule"])


def relative_steps(board: pd.DataFrame, prices: pd.DataFrame, baseline: str) -> pd.Series:
    """Return the time of a training step over the baseline's of the same task, by `prices`: task, line, ms."""
    lines = board[["task", "line"]]
    own = lines.merge(prices, "left")["ms"]
    of_baseline = lines.assign(line=baseline).merge(prices, "left")["ms"]
    return own / of_baseline


def summary(board: pd.DataFrame) -> dict[str, dict[str, float | None]]:
    """Return by task and line, in alphabetical order, the percentage `beyond` as trained; None where it diverged."""
    document: dict[str, dict[str, float | None]] = {}
    trained = rows(board, rule=PLAIN).sort_values("line", kind="stable")
    for row in trained.to_dict("records"):
        beyond = row["beyond"]
        lines = document.setdefault(row["task"], {})
        lines[row["line"]] = None if pd.isna(beyond) else round(beyond, 2)
    return document
