"""The paper's numbers, results/paper.csv: its gains and their errors, and how near ours are."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from scipy import stats

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.compare.pairs import Pair
from vanishing_variance.results.scale import PAPER_SEEDS

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
    wide = papers_numbers(paper, pair, lengths)
    # Gains over none: of std Table 3 has them, the other tables have accuracies.
    gains = {"none": 0 * wide["none"], "ln": wide["ln"] - wide["none"], "std": wide["std"]}
    differences = gains[pair.treatment] - gains[pair.baseline]
    return differences.dropna()


def papers_errors(paper: pd.DataFrame, pair: Pair, lengths: "pd.Index[Any]") -> pd.Series:
    """Return the most that the standard error of the paper's difference can be, in points, by length.

    The error is the difference, rounded up, over the t that its p-value has with 100 seeds. Over lengths, the mean
    of these errors is that of the mean difference if lengths err together, and else above it. `std` and `none` are
    compared through `ln`: of a sum, the error is at most the sum of the errors.
    """
    tested = ["none", "std"] if pair.treatment == "std" else [pair.baseline]
    wide = papers_numbers(paper, pair, lengths)
    error = pd.Series(0.0, index=wide.index)
    for baseline in tested:
        differences = papers_gains(paper, pair._replace(treatment="ln", baseline=baseline), lengths)
        largest = differences.abs() + ROUNDED
        t = stats.t.isf(wide[f"ln_vs_{baseline}"] / 2, PAPER_SEEDS - 1)
        error += largest.reindex(wide.index) / t
    return error


def papers_numbers(paper: pd.DataFrame, pair: Pair, lengths: "pd.Index[Any]") -> pd.DataFrame:
    """Return the paper's numbers of a pair's task, range and rule, a row a length; NaN where one is not known."""
    papers = rows(paper, task=pair.task, range_=pair.range_, rule=pair.rule)
    wide = papers.dropna(subset="value").pivot_table(index="length", columns="variant", values="value")
    return wide.reindex(index=lengths, columns=["none", "ln", "std", "ln_vs_none", "ln_vs_std"])
