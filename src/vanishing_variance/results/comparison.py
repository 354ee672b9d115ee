"""Ours beside the paper's, cell by cell: every number of Tables 1 to 6 that survives in study/paper.csv."""

from typing import Any

import pandas as pd

from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.markdown import MISSING, table
from vanishing_variance.results.paired_tests import select

# Where a test compares two variants: the one that the paper finds ahead wherever p is small (Sections 3.1, 3.2, B.2).
TESTS = {"ln_vs_none": ("ln", "none"), "ln_vs_std": ("ln", "std")}
# A test is significant below this, the paper's and ours.
ALPHA = 0.01
# By number of `agreement`: its column's heading and format.
_COLUMNS = {
    "cells": ("numbers", "d"),
    "mean_difference": ("mean difference (pp)", "+.1f"),
    "mean_absolute_difference": ("mean absolute difference (pp)", ".1f"),
    "significant": ("significant there (p < 0.01)", "d"),
    "confirmed": ("so here, same sign", "d"),
    "reversed": ("so here, opposite sign", "d"),
}


def cells(tests: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's numbers, each with ours; those of lengths or variants that we do not have are left out.

    Columns: table, task, range, temperature, variant, quantity, length; `paper` and `ours`, in percent, percentage
    points or as a p-value; `difference`, ours minus the paper's, of what is not a p-value; `low` and `high`, the 95% t
    interval of ours, and `n`, its seeds; `gain`, beside a p-value, the mean difference in percentage points that it
    tests; `low` and `high` are then that difference's.
    """
    wanted = paper.dropna(subset="value").rename(columns={"value": "paper"})
    compared = []
    for (task, range_, variant), of in wanted.groupby(["task", "range", "variant"], sort=False):
        ours = _ours(tests, str(task), str(range_), str(variant))
        compared.append(of.merge(ours, on=["temperature", "length"]))
    found = pd.concat(compared, ignore_index=True).sort_values("table", kind="stable", ignore_index=True)
    is_test, is_gain = (found["quantity"] == name for name in ("p_value", "gain_over_none_pct"))
    found["gain"] = found["difference"].where(is_test)
    found["ours"] = found["p"].where(is_test, found["difference"].where(is_gain, found["mean"]))
    for end in ("low", "high"):
        found[end] = found[end].where(is_test | is_gain, found[f"mean_{end}"])
    found["difference"] = (found["ours"] - found["paper"]).mask(is_test)
    return found[[*CSV["paper"]]]


def _ours(tests: pd.DataFrame, task: str, range_: str, variant: str) -> pd.DataFrame:
    """Return by temperature and length the variant's mean accuracy, and the difference and p of what it tests.

    Both with their intervals, and n. `none` is that of the pair with the most seeds.
    """
    if variant == "none":
        of = tests.query("task == @task and range == @range_ and baseline == 'none'").sort_values("n", ascending=False)
        of, role = of.drop_duplicates(["temperature", "length"]), "baseline"
    else:
        of, role = select(tests, task, range_, *TESTS.get(variant, (variant, "none"))), "treatment"
    mean = {f"{role}_{end}": name for end, name in (("mean", "mean"), ("low", "mean_low"), ("high", "mean_high"))}
    return of.rename(columns=mean)[["temperature", "length", *mean.values(), "difference", "low", "high", "p", "n"]]


def agreement(cells: pd.DataFrame) -> dict[str, Any]:
    """Return, by table, how near ours are: small numbers for `dvc metrics diff`.

    `cells`, those with an accuracy or a gain, and over them the mean difference (ours minus the paper's) and the mean
    of its absolute value, in percentage points; `significant`, the paper's tests with p < 0.01, and of these those that
    came out with p < 0.01 and the same sign, `confirmed`, or the opposite one, `reversed`.
    """
    document: dict[str, Any] = {}
    for number, of in cells.groupby("table"):
        away = of["difference"].dropna()
        significant = of[(of["quantity"] == "p_value") & (of["paper"] < ALPHA)]
        gains = significant["gain"].where(significant["ours"] < ALPHA)
        means = {"mean_difference": away.mean(), "mean_absolute_difference": away.abs().mean()}
        document[f"table{number}"] = {
            "cells": len(away),
            **{name: round(float(mean), 2) for name, mean in means.items() if len(away)},
            "significant": len(significant),
            "confirmed": int((gains > 0).sum()),
            "reversed": int((gains < 0).sum()),
        }
    return document


def markdown(agreement: dict[str, Any]) -> str:
    """Return `agreement` as Markdown, a row a table; – where no accuracy or gain survives."""
    rows = []
    for name, of in agreement.items():
        cells = [format(of[key], how) if key in of else MISSING for key, (_, how) in _COLUMNS.items()]
        rows.append([name.replace("table", "Table "), *cells])
    head = ["", *(heading for heading, _ in _COLUMNS.values())]
    return "\n".join(["# Ours against the paper's", "", *table(head, rows), ""])
