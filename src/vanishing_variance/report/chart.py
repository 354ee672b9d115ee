"""The chart of the study's accuracies against length."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from vanishing_variance.core.config import get_param
from vanishing_variance.figures import variants
from vanishing_variance.report.chart_document import Choice, Curve, document
from vanishing_variance.report.readings import readings
from vanishing_variance.report.tables import TEMPERATURES
from vanishing_variance.study.scale import of_paper, steps


def chart(tests: pd.DataFrame, paper: pd.DataFrame, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document in Vega-Lite with the accuracies of tests.csv and paper.csv, a curve a variant.

    Task, range and temperature are chosen beside the chart, and every variant is shown or hidden there.
    """
    rows = readings(tests, paper)
    tasks, ranges, temperatures, norms = (
        list(dict.fromkeys(rows[name])) for name in ("task", "range", "temperature", "norm")
    )
    trained = pd.DataFrame(
        [
            {"range": of, **{end: get_param(params, f"ranges.{of}.{end}", int) for end in ("shortest", "longest")}}
            for of in ranges
        ]
    )
    lengths = trained.set_index("range").itertuples()
    made = document(
        rows.rename(columns={"norm": "curve"}),
        trained,
        [Curve(norm, variants.label(norm), variants.colour(norm)) for norm in norms],
        [
            Choice("task", "task", {task: task for task in tasks}),
            Choice("range", "trained on", {str(of.Index): f"{of.shortest} to {of.longest} items" for of in lengths}),
            Choice("temperature", "at test time", {name: TEMPERATURES[name] for name in temperatures}),
        ],
        title="titles[chosen_task][chosen_range]",
    )
    made["params"].append({"name": "titles", "value": {task: _titles(params, task, ranges) for task in tasks}})
    return made


def _titles(params: Mapping[str, Any], task: str, ranges: Sequence[str]) -> dict[str, str]:
    """Return in words for how many steps a task was trained, by range."""
    return {name: of_paper(task, steps(params, task, name)) for name in ranges}
