"""Accuracy against length as a chart in Vega-Lite: it reads out the point of a curve that one points at."""

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import pandas as pd

from vanishing_variance.core.config import get_param
from vanishing_variance.figures import variants
from vanishing_variance.report.readings import readings
from vanishing_variance.report.tables import TEMPERATURES
from vanishing_variance.study.markdown import drawn_power
from vanishing_variance.study.scale import of_paper, steps

_TEMPLATE = resources.files("vanishing_variance.report") / "templates/chart.json"


def chart(tests: pd.DataFrame, paper: pd.DataFrame, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return templates/chart.json, a document in Vega-Lite, filled with the accuracies of tests.csv and paper.csv.

    Task, range and temperature are chosen beside the chart, and every variant is shown or hidden there.
    """
    rows = readings(tests, paper)
    tasks, ranges, temperatures, norms = (
        list(dict.fromkeys(rows[name])) for name in ("task", "range", "temperature", "norm")
    )
    lengths = sorted({int(length) for length in rows["length"]})
    trained = [
        (get_param(params, f"ranges.{of}.shortest", int), get_param(params, f"ranges.{of}.longest", int))
        for of in ranges
    ]
    document: dict[str, Any] = json.loads(_TEMPLATE.read_text(encoding="utf-8"))
    document["datasets"] = {
        "readings": json.loads(rows.to_json(orient="records", double_precision=3)),
        "trained": [
            {"range": name, "shortest": low, "longest": high} for name, (low, high) in zip(ranges, trained, strict=True)
        ],
    }
    document["params"] = [
        {"name": "titles", "value": {task: _titles(params, task, ranges) for task in tasks}},
        {"name": "labels", "value": {norm: variants.label(norm) for norm in norms}},
        {"name": "powers", "value": {str(length): drawn_power(length) for length in lengths}},
        _choice("task", "task", tasks, tasks),
        _choice("range", "trained on", ranges, [f"{low} to {high} items" for low, high in trained]),
        _choice("temperature", "at test time", temperatures, [TEMPERATURES[name] for name in temperatures]),
        *(
            {"name": f"shows_{place}", "value": True, "bind": {"input": "checkbox", "name": variants.label(norm)}}
            for place, norm in enumerate(norms)
        ),
    ]
    document["transform"] += [
        {"filter": f"datum.norm !== {json.dumps(norm)} || shows_{place}"} for place, norm in enumerate(norms)
    ]
    x, colour = document["encoding"]["x"], document["encoding"]["color"]
    x["scale"]["domain"] = [min(lengths[0], *(low for low, _ in trained)), lengths[-1]]
    x["axis"]["values"] = lengths
    colour["scale"] = {"domain": norms, "range": [variants.colour(norm) for norm in norms]}
    return document


def _titles(params: Mapping[str, Any], task: str, ranges: Sequence[str]) -> dict[str, str]:
    """Return in words for how many steps a task was trained, by range."""
    return {name: of_paper(task, steps(params, task, name)) for name in ranges}


def _choice(name: str, title: str, values: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """Return a parameter of the chart, bound to a selector of values, the first of them chosen."""
    bind = {"input": "select", "name": title, "options": values, "labels": labels}
    return {"name": f"chosen_{name}", "value": values[0], "bind": bind}
