"""What the plan of this study reads from its results: `python studies/rivals/answer.py`; by plan.md, beside it.

Writes answer.md: each line's gain over `none` of the same schedule and its reading, a row a line; and the tests that
pair two gains.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING, estimate
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.accuracy import percent_by_length, rows
from vanishing_variance.results.compare.gains import gain
from vanishing_variance.results.compare.pairs import of_both, percent_beyond
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.log_odds import log_odds
from vanishing_variance.statistics.paired import Difference, difference
from vanishing_variance.studies.parameters import held_out
from vanishing_variance.studies.reading import by_rule, read_all

HERE = Path(__file__).parent
SCHEDULES = {"constant": "", "falling": "falls-"}  # by the name of a schedule: what its lines begin with
LINES = ("ln", "post-norm", "cosine", "cosine-log", "l2")
PAIRS = (("cosine-log", "cosine"), ("log", "none"), ("cosine-log", "log"))
LONGEST_TRAINED, LONGEST = 16, 4096
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
    """Write and print the tables."""
    text = answer()
    write_text(HERE / "answer.md", text)
    print(text)


def answer() -> str:
    """Return answer.md, of the results in git; of the schedules that have run."""
    params = read_yaml(PATH)
    study, results = read_all(HERE.name, params)
    sequences = held_out(params, study)["sequences"]
    tested = by_rule(results)
    prefixes = {name: prefix for name, prefix in SCHEDULES.items() if f"{prefix}none" in study.names}
    parts = ["# Rivals of LN in one Transformer layer"]
    for schedule, prefix in prefixes.items():
        parts.append(f"## The {schedule} rate\n\n" + family_table(tested, prefix, sequences))
    parts += ["## Paired differences\n\n" + pairs_table(tested, prefixes), NOTE]
    return "\n\n".join(parts) + "\n"


def family_table(tested: pd.DataFrame, prefix: str, sequences: int) -> str:
    """Return the gains and readings of the lines of a schedule as Markdown; accuracies are of so many `sequences`."""
    none = _percent(tested, f"{prefix}none")
    of_none = percent_beyond(none, LONGEST_TRAINED).mean()
    by_log_odds = bool(of_none > CEILING)
    arms = {line: _percent(tested, f"{prefix}{line}") for line in LINES}
    tests = [family_test(arm, none, by_log_odds, sequences) for arm in arms.values()]
    corrected = holm(np.array([test.p for test in tests]))
    lines = []
    for (line, arm), test, p in zip(arms.items(), tests, corrected, strict=True):
        points, views = gain(arm, none, LONGEST_TRAINED, sequences)
        row = [
            line,
            str(points.n),
            f"{percent_beyond(arm, LONGEST_TRAINED).mean():.1f}",
            estimate("+.1f", *views["difference"]),
            estimate("+.2f", *views["log_odds_longest"]),
            MISSING if line == NOT_SUMMING_TO_1 else estimate("+.1f", *_attention_gain(tested, prefix, line)),
            f"{p:.2g}",
            reading(arm.iloc[:, 0].mean(), test.mean, p, is_equal(arm, none)),
        ]
        lines.append(row)
    tested_by = "log-odds" if by_log_odds else "points"
    heads = ["line", "n", "beyond (%)", "points", "log-odds", "target (pp)", "p", "reading"]
    return f"`none`: {of_none:.1f}% beyond training. Tested by {tested_by}.\n\n" + table(heads, lines, texts=1)


def family_test(arm: pd.DataFrame, none: pd.DataFrame, by_log_odds: bool, sequences: int) -> Difference:
    """Return the paired test of the accuracy beyond training in percent, or of the log-odds at the longest length."""
    both = of_both(arm, none)
    if by_log_odds:
        ours, theirs = (log_odds(percent[LONGEST].to_numpy() / 100, sequences) for percent in both)
    else:
        ours, theirs = (percent_beyond(percent, LONGEST_TRAINED).to_numpy() for percent in both)
    return difference(ours, theirs)


def is_equal(arm: pd.DataFrame, none: pd.DataFrame) -> bool:
    """Return whether the 90% interval of the gain in points is within the margin: two one-sided tests at 5%."""
    ours, theirs = (percent_beyond(percent, LONGEST_TRAINED) for percent in of_both(arm, none))
    found = stats.ttest_rel(ours, theirs).confidence_interval(0.9)
    return bool(found.low > -MARGIN and found.high < MARGIN)


def reading(shortest: float, mean: float, p: float, equal: bool) -> str:
    """Return the plan's word for a gain; `shortest`: the line's accuracy at the shortest length, in percent."""
    if shortest < TRAINED:
        return "did not train"
    if p < LEVEL:
        return "helps" if mean > 0 else "costs"
    return "makes no difference" if equal else "undecided"


def pairs_table(tested: pd.DataFrame, prefixes: Mapping[str, str]) -> str:
    """Return the differences of two lines, and of two gains, in points beyond training, as Markdown."""
    lines = []
    for schedule, prefix in prefixes.items():
        for pair in PAIRS:
            ours, theirs = (_percent(tested, f"{prefix}{line}") for line in pair)
            if len(ours) and len(theirs):
                lines.append(_pair(f"*{pair[0]}* over *{pair[1]}*, {schedule}", ours, theirs))
    if "constant" in prefixes:
        post_norm, none = (_gain_of_averaging(tested, line) for line in ("post-norm", "none"))
        lines.append(_pair("averaged over last weights, *post-norm* over *none*, constant", post_norm, none))
    return table(["difference", "n", "points", "p"], lines, texts=1)


def _pair(name: str, ours: pd.DataFrame, theirs: pd.DataFrame) -> list[str]:
    found = family_test(ours, theirs, by_log_odds=False, sequences=0)
    return [name, str(found.n), estimate("+.1f", found.mean, found.low, found.high), f"{found.p:.2g}"]


def _percent(tested: pd.DataFrame, line: str, rule: str = "last") -> pd.DataFrame:
    return percent_by_length(rows(tested, line=line, rule=rule))


def _gain_of_averaging(tested: pd.DataFrame, line: str) -> pd.DataFrame:
    return _percent(tested, line, "averaged") - _percent(tested, line)


def _attention_gain(tested: pd.DataFrame, prefix: str, line: str) -> tuple[float, float, float]:
    """Return the gain of the target's attention at the longest length, in points, of the head that has most of it."""
    arms = []
    for name in (line, "none"):
        models = rows(tested, line=f"{prefix}{name}", rule="last", length=LONGEST).set_index("seed")
        arms.append(models.filter(regex=r"^target_\d").astype(float).max(axis=1))
    return interval(100 * (arms[0] - arms[1]).dropna().to_numpy())


if __name__ == "__main__":
    run_script(main)
