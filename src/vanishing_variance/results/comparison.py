"""Ours beside the paper's, cell by cell: every number of Tables 1 to 6 that survives in harness/paper.csv."""

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.accuracy import rows

KEYS = ["task", "range", "temperature", "length"]
# A test is significant below this, the paper's and ours.
ALPHA = 0.01
COLUMNS = [
    *("table", "task", "range", "temperature", "variant", "quantity", "length"),
    *("paper", "ours", "low", "high", "n", "difference", "gain"),
]
HEAD = (
    *("", "numbers", "mean difference (pp)", "mean absolute difference (pp)"),
    *("significant there (p < 0.01)", "so here, same sign", "so here, opposite sign"),
)


def cells(tests: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's numbers, each with ours; those of lengths or variants that we do not have are left out.

    COLUMNS: `paper` and `ours`, in percent, percentage points or as a p-value; `difference`, ours minus the paper's, of
    what is not a p-value; `low` and `high`, the 95% t interval of ours, and `n`, its seeds; `gain`, beside a p-value,
    the mean difference in percentage points that it tests; `low` and `high` are then that difference's.
    """
    wanted = paper.dropna(subset="value").rename(columns={"value": "paper"})
    wanted["variants"] = wanted.groupby(["task", "range", "variant"], sort=False).ngroup()
    wanted = wanted.sort_values(["table", "variants"], kind="stable")
    ours = pd.concat([_accuracies(tests), _gains(tests), _p_values(tests)])
    found = wanted.merge(ours, on=["task", "range", "temperature", "length", "variant", "quantity"])
    found["difference"] = (found["ours"] - found["paper"]).where(found["quantity"] != "p_value")
    return found[COLUMNS]


def _accuracies(tests: pd.DataFrame) -> pd.DataFrame:
    """Return our mean accuracies by variant; that of `none` is of the pair with the most seeds."""
    against_none = rows(tests, baseline="none")
    most = against_none.sort_values("n", ascending=False).drop_duplicates(["task", "range", "temperature", "length"])
    parts = []
    for role, pairs in (("treatment", against_none), ("baseline", most)):
        part = pairs.drop(columns=["low", "high"])
        names = {role: "variant", f"{role}_mean": "ours", f"{role}_low": "low", f"{role}_high": "high"}
        parts.append(part.rename(columns=names)[[*KEYS, *names.values(), "n"]])
    return pd.concat(parts).assign(quantity="accuracy_pct")


def _gains(tests: pd.DataFrame) -> pd.DataFrame:
    """Return our gains over `none` by variant."""
    names = {"treatment": "variant", "difference": "ours"}
    gains = rows(tests, baseline="none").rename(columns=names)
    return gains[[*KEYS, "variant", "ours", "low", "high", "n"]].assign(quantity="gain_over_none_pct")


def _p_values(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the p of our tests, by pair."""
    found = tests.rename(columns={"p": "ours", "difference": "gain"})
    found["variant"] = found["treatment"] + "_vs_" + found["baseline"]
    return found[[*KEYS, "variant", "ours", "low", "high", "n", "gain"]].assign(quantity="p_value")


def markdown(cells: pd.DataFrame) -> str:
    """Return by table how near ours are: over its accuracies and gains the mean difference, ours minus the paper's.

    And of the paper's tests with p < 0.01, how many have p < 0.01 here, with the same sign or the opposite one.
    """
    lines = []
    for number, ours in cells.groupby("table"):
        away = ours["difference"].dropna()
        significant = ours[(ours["quantity"] == "p_value") & (ours["paper"] < ALPHA)]
        gains = significant["gain"].where(significant["ours"] < ALPHA)
        # To two digits first, as the published numbers are.
        near = [estimate("+.1f", round(away.mean(), 2)), estimate(".1f", round(away.abs().mean(), 2))]
        counts = len(significant), int((gains > 0).sum()), int((gains < 0).sum())
        lines.append([f"Table {number}", str(len(away)), *near, *map(str, counts)])
    return f"# Ours against the paper's\n\n{table(HEAD, lines)}\n"
