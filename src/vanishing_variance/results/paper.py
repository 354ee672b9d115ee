"""The paper's numbers, results/paper.csv: gains, how near ours are; and the scale of its training."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.numbers import estimate, table
from vanishing_variance.results.arms import Pair
from vanishing_variance.results.columns import rows
from vanishing_variance.results.runs import line_of, range_of

# The paper's gradient steps by task (B.1).
PAPER_STEPS = {"argmax": 100_000, "dictionary": 10_000}
PAPER_SEEDS = 100
# The paper's longest training length by range.
PAPER_LONGEST = {"short": 16, "long": 256}
# Percentage points that a baseline may be below the paper's, and still count as trained like the paper's.
BEHIND = 0.5
# A test is significant below this, the paper's and ours.
ALPHA = 0.01
# Percentage points: the paper's accuracies have one decimal, so a difference is off by at most two halves of a tenth.
ROUNDED = 0.1
HEAD = (
    *("", "numbers", "mean difference (pp)", "mean absolute difference (pp)"),
    *("significant there (p < 0.01)", "so here, same sign", "so here, opposite sign"),
)


def markdown(tables: Mapping[int, pd.DataFrame]) -> str:
    """Return by table how near ours are: over its accuracies and gains the mean difference, ours minus the paper's.

    And of the paper's tests with p < 0.01, how many have p < 0.01 here, with the same sign or the opposite one.
    `tables`: of `results.tables.numbers`.
    """
    lines = []
    for number, found in tables.items():
        names = [name for name in found if f"paper_{name}" in found and name != "p"]
        differences = pd.concat([found[name] - found[f"paper_{name}"] for name in names]).dropna()
        mean = estimate("+.1f", differences.mean())
        mean_absolute = estimate(".1f", differences.abs().mean())
        significant = found[found["paper_p"] < ALPHA]
        gains = significant["difference"].where(significant["p"] < ALPHA)
        counts = len(significant), int((gains > 0).sum()), int((gains < 0).sum())
        lines.append([f"Table {number}", str(len(differences)), mean, mean_absolute, *map(str, counts)])
    return f"# Ours against the paper's\n\n{table(HEAD, lines)}\n"


def papers_gains(paper: pd.DataFrame, pair: Pair, lengths: "pd.Index[Any]") -> pd.Series:
    """Return the paper's differences of a pair in percentage points, by length.

    Those that the conversion of its tables lost are absent.
    """
    ours, theirs = (_over_none(paper, pair, line) for line in (pair.line, pair.baseline))
    return (ours - theirs).reindex(lengths).dropna()


def papers_numbers(
    paper: pd.DataFrame, pair: Pair, line: str, statistic: str = "accuracy", baseline: str = ""
) -> pd.Series:
    """Return the paper's numbers of a line, or of it and a baseline, of a pair's task and rule, by length."""
    found = rows(paper, task=pair.task, rule=pair.rule, line=line, statistic=statistic)
    if baseline:
        found = rows(found, baseline=baseline)
    return found.set_index("length")["value"].dropna()


def _over_none(paper: pd.DataFrame, pair: Pair, line: str) -> pd.Series:
    """Return the paper's gain of a line over none by length: Table 3 has that of std, other tables accuracies."""
    none = line_of("none", range_of(line))
    gain = papers_numbers(paper, pair, line, "difference", none)
    return gain if len(gain) else papers_numbers(paper, pair, line) - papers_numbers(paper, pair, none)


def of_paper(task: str, made: int, attention: str, network: str) -> str:
    """Return a number of gradient steps in words, beside the paper's where it is no larger.

    Where attention is no softmax, or the network another than the paper's, the words say so.
    """
    papers = PAPER_STEPS[task]
    words = f"{made:,} of the paper's {papers:,} gradient steps"
    if made > papers:
        words = f"{made:,} gradient steps"
    if made == papers:
        words = f"the paper's {papers:,} gradient steps"
    if network != PAPER:
        words += f", network {network}"
    if attention != "softmax":
        words += f", attention {attention}"
    return words
