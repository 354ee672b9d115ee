"""The chart of the study's accuracies against length."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.core.config import get_param
from vanishing_variance.core.ranges import Range, training_steps
from vanishing_variance.figures import variants
from vanishing_variance.report.chart_document import Choice, Curve, document
from vanishing_variance.report.formats import estimate, number
from vanishing_variance.report.tables import TEMPERATURES
from vanishing_variance.study.markdown import drawn_power
from vanishing_variance.study.scale import of_paper

_OF = ["task", "range", "temperature", "length"]


def chart(tests: pd.DataFrame, paper: pd.DataFrame, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document in Vega-Lite with the accuracies of tests.csv and paper.csv, a curve a variant.

    Task, range and temperature are chosen beside the chart, and every variant is shown or hidden there.
    """
    rows = readings(tests, paper)
    tasks, names, temperatures, norms = (dict.fromkeys(rows[name]) for name in ("task", "range", "temperature", "norm"))
    ranges = {name: get_param(params, f"ranges.{name}", Range) for name in names}
    trained = [{"range": name, "shortest": of.shortest, "longest": of.longest} for name, of in ranges.items()]
    ends = {name: f"{of.shortest} to {of.longest} items" for name, of in ranges.items()}
    made = document(
        rows.rename(columns={"norm": "curve"}),
        pd.DataFrame(trained),
        [Curve(norm, variants.label(norm), variants.colour(norm)) for norm in norms],
        [
            Choice("task", "task", {task: task for task in tasks}),
            Choice("range", "trained on", ends),
            Choice("temperature", "at test time", {name: TEMPERATURES[name] for name in temperatures}),
        ],
        title="titles[chosen_task][chosen_range]",
    )
    titles = {task: {name: of_paper(task, training_steps(params, task, name)) for name in ranges} for task in tasks}
    made["params"].append({"name": "titles", "value": titles})
    return made


def readings(tests: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return a row a variant and length, once, however many tests it is in.

    Columns: what it is of, mean, low, high (%), the paper's accuracy, and `reading`: these and n in words. `tests` and
    `paper` are the frames of metrics/tables, which fill the page's tables too: a reading rounds as they do.
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
