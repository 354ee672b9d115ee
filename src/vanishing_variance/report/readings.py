"""Accuracies as the page's chart reads them out: a row a variant and length, once, however many tests it is in."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.figures import variants
from vanishing_variance.report.formats import estimate, number
from vanishing_variance.study.markdown import drawn_power

_OF = ["task", "range", "temperature", "length"]


def readings(tests: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return what a row is of, with mean, low, high (%), the paper's accuracy, and `reading`: these and n in words.

    `tests` and `paper` are the frames of metrics/tables, which fill the page's tables too: a reading rounds as they do.
    """
    place = [*_OF, "norm"]
    ours = pd.concat([_role(tests, role) for role in ("baseline", "treatment")]).drop_duplicates(place)
    theirs = paper[paper["quantity"] == "accuracy_pct"].rename(columns={"variant": "norm"})
    rows = ours.merge(theirs[[*place, "paper"]], how="left", on=place)
    return rows.assign(reading=[_words(row) for row in rows.to_dict("records")]).drop(columns="n")


def _role(tests: pd.DataFrame, role: str) -> pd.DataFrame:
    """Return what the tests say of the variants in one role."""
    names = {role: "norm", **{f"{role}_{name}": name for name in ("mean", "low", "high")}}
    return tests[[*_OF, *names, "n"]].rename(columns=names)


def _words(row: Mapping[Any, Any]) -> str:
    where = f"{variants.label(row['norm'])} at N = {drawn_power(row['length'])}"
    theirs = "" if math.isnan(row["paper"]) else f"; the paper: {number(row['paper'], '.1f')}%"
    return f"{where}: {estimate(row['mean'], row['low'], row['high'])}\nn = {row['n']} seeds{theirs}"
