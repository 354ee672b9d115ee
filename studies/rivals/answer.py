"""What the plan of this study reads from its results: `python studies/rivals/answer.py`, by plan.md, beside it.

Writes answer.md: each line's gain over `none` of the same schedule and its reading, a row a line; and the tests that
pair two gains.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.numbers import MISSING, estimate, table
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.arms import Arms, mean_beyond, percent_by_length
from vanishing_variance.results.columns import rows
from vanishing_variance.results.paired import estimate_of
from vanishing_variance.results.schema import by_rule
from vanishing_variance.statistics.comparisons import Difference, difference, holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.log_odds import log_odds
from vanishing_variance.studies.reading import read_all

HERE = Path(__file__).parent
SCHEDULES = {"constant": "", "falling": "falls-"}  # by the name of a schedule: what its lines begin with
LINES = ("ln", "post-norm", "cosine", "cosine-log", "l2")
PAIRS = (("cosine-log", "cosine"), ("log", "none"), ("cosine-log", "log"))
LONGEST_TRAINED, LONGEST, SEQUENCES = 16, 4096, 512
# From here on a family is tested by log-odds at the longest length; points have no room above it.
CEILING = 98.0
# A line below it at the shortest length did not train.
TRAINED = 99.0
# Points; a gain whose 90% interval is within makes no difference.
MARGIN = 1.0
LEVEL = 0.05
# Its attention weights do not add up to 1, so those of its target are compared with no other line's.
NOT_SUMMING_TO_1 = "l2"
NOTE = (
    "Last weights; gains over `none` of the same schedule, paired by seed, with 95% intervals over n seeds: points "
    "beyond training (2^5 to 2^12), log-odds at 2^12, and the target's attention there, of the head that has most of "
    "it. *p*: of what is tested, after Holm's correction over the lines of a schedule. Plan: "
    "[plan.md](plan.md)."
)


def main() -> None:
    """Write the tables."""
    for name, text in tables().items():
        write_text(HERE / name, text)


def tables() -> dict[str, str]:
    """Return answer.md, of the results in git."""
    tested = by_rule(read_all(HERE.name, read_yaml(PATH))[1])
    parts = ["# Rivals of LN in one Transformer layer"]
    for schedule, prefix in SCHEDULES.items():
        parts.append(f"## The {schedule} rate\n\n" + family_table(tested, prefix))
    parts += ["## Paired differences\n\n" + pairs_table(tested), NOTE]
    return {"answer.md": "\n\n".join(parts) + "\n"}


def family_table(tested: pd.DataFrame, prefix: str) -> str:
    """Return the gains and readings of the lines of a schedule as Markdown."""
    none, *arms = (percents(tested, prefix + line) for line in ("none", *LINES))
    of_none = beyond(none).mean()
    by_log_odds = of_none > CEILING
    tests = [log_odds_gain(arm, none) if by_log_odds else points_gain(arm, none) for arm in arms]
    corrected = holm(np.array([test.p for test in tests]))
    lines = []
    for line, arm, test, p in zip(LINES, arms, tests, corrected, strict=True):
        ours, theirs = (rows(tested, line=name, rule="last") for name in (prefix + line, f"{prefix}none"))
        compared = Arms(ours, theirs, LONGEST_TRAINED, SEQUENCES)
        cells = [
            estimate("+.1f", *estimate_of(compared, "difference")),
            estimate("+.2f", *estimate_of(compared, "log_odds", LONGEST)),
            MISSING if line == NOT_SUMMING_TO_1 else estimate("+.1f", *attention_gain(tested, prefix, line)),
            f"{p:.2g}",
            reading(arm.iloc[:, 0].mean(), test.mean, p, is_equal(arm, none)),
        ]
        lines.append([line, str(len(compared.gains)), f"{beyond(arm).mean():.1f}", *cells])
    heads = ["line", "n", "beyond (%)", "points", "log-odds", "target (pp)", "p", "reading"]
    tested_by = "log-odds" if by_log_odds else "points"
    return f"`none`: {of_none:.1f}% beyond training. Tested by {tested_by}.\n\n" + table(heads, lines)


def reading(shortest: float, mean: float, p: float, equal: bool) -> str:
    """Return the plan's word for a gain; `shortest`: the line's accuracy at the shortest length, in percent."""
    if shortest < TRAINED:
        return "did not train"
    if p < LEVEL:
        return "helps" if mean > 0 else "costs"
    return "makes no difference" if equal else "undecided"


def is_equal(arm: pd.DataFrame, none: pd.DataFrame) -> bool:
    """Return whether the 90% interval of the gain in points is within the margin: two one-sided tests at 5%."""
    ours, theirs = arm.align(none, join="inner", axis="index")
    ends = stats.ttest_rel(beyond(ours), beyond(theirs)).confidence_interval(0.9)
    return bool(ends.low > -MARGIN and ends.high < MARGIN)


def attention_gain(tested: pd.DataFrame, prefix: str, line: str) -> tuple[float, float, float]:
    """Return the gain of the target's attention at the longest length, in points, of the head that has most of it."""
    longest = rows(tested, rule="last", length=LONGEST).set_index(["line", "seed"])
    most = longest.filter(regex=r"^target_\d").astype(float).max(axis=1)
    return interval(100 * (most[prefix + line] - most[f"{prefix}none"]).dropna().to_numpy())


def pairs_table(tested: pd.DataFrame) -> str:
    """Return the differences of two lines, and of two gains, in points beyond training, as Markdown."""
    found = {}
    for schedule, prefix in SCHEDULES.items():
        for line, baseline in PAIRS:
            arms = (percents(tested, prefix + name) for name in (line, baseline))
            found[f"*{line}* over *{baseline}*, {schedule}"] = points_gain(*arms)
    of_averaging = (percents(tested, line, "averaged") - percents(tested, line) for line in ("post-norm", "none"))
    found["averaged over last weights, *post-norm* over *none*, constant"] = points_gain(*of_averaging)
    lines = []
    for name, test in found.items():
        lines.append([name, str(test.n), estimate("+.1f", test.mean, test.low, test.high), f"{test.p:.2g}"])
    return table(["difference", "n", "points", "p"], lines)


def points_gain(ours: pd.DataFrame, theirs: pd.DataFrame) -> Difference:
    """Return the paired test of the accuracy beyond training, in points."""
    ours, theirs = ours.align(theirs, join="inner", axis="index")
    return difference(beyond(ours).to_numpy(), beyond(theirs).to_numpy())


def log_odds_gain(ours: pd.DataFrame, theirs: pd.DataFrame) -> Difference:
    """Return the paired test of the log-odds at the longest length."""
    both = ours.align(theirs, join="inner", axis="index")
    return difference(*(log_odds(percent[LONGEST].to_numpy() / 100, SEQUENCES) for percent in both))


def percents(tested: pd.DataFrame, line: str, rule: str = "last") -> pd.DataFrame:
    """Return a line's accuracies in percent, a row a seed, a column a length."""
    return percent_by_length(rows(tested, line=line, rule=rule))


def beyond(percent: pd.DataFrame) -> "pd.Series[float]":
    """Return each seed's mean over the lengths beyond training."""
    return mean_beyond(percent, LONGEST_TRAINED)


if __name__ == "__main__":
    run_script(main)
