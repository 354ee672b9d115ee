"""Charts of accuracy against length: documents in Vega-Lite that read out the point of a curve that one points at."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.report.rendering import read_template
from vanishing_variance.study.markdown import drawn_power


@dataclass(frozen=True)
class Curve:
    """A curve by its name in the rows: its label, colour, dashes (pixels, on and off), and if it is shown at first."""

    name: str
    label: str
    colour: str
    dashes: tuple[int, ...] = (1, 0)
    shown: bool = True


@dataclass(frozen=True)
class Choice:
    """A column of the rows of which one value is chosen, at first the first: its title, and the values' labels."""

    column: str
    title: str
    labels: Mapping[str, str]


def document(
    rows: pd.DataFrame, trained: pd.DataFrame, curves: Sequence[Curve], choices: Sequence[Choice], title: str
) -> dict[str, Any]:
    """Return templates/chart.json filled; what is chosen, and which curves are shown, is set beside the chart.

    `rows`: the columns of `choices`, curve, length, mean, low, high (%), `reading`, what is read out, and where there
    is one the paper's accuracy; `trained`: the shortest and longest training lengths, a row a value of those columns
    of `choices` that it has; `title`: an expression of Vega's.
    """
    lengths = sorted({int(length) for length in rows["length"]})
    made: dict[str, Any] = json.loads(read_template("chart.json"))
    made["datasets"] = {
        name: json.loads(of.to_json(orient="records", double_precision=3))
        for name, of in {"readings": rows, "trained": trained}.items()
    }
    made["params"] = [
        {"name": "title", "expr": title},
        {"name": "powers", "value": {str(length): drawn_power(length) for length in lengths}},
        *(_selector(choice) for choice in choices),
        *(
            {"name": f"shows_{place}", "value": curve.shown, "bind": {"input": "checkbox", "name": curve.label}}
            for place, curve in enumerate(curves)
        ),
    ]
    made["transform"] = [
        *_chosen(rows, choices),
        *(
            {"filter": f"datum.curve !== {json.dumps(curve.name)} || shows_{place}"}
            for place, curve in enumerate(curves)
        ),
    ]
    layers, x = {layer.get("name"): layer for layer in made["layer"]}, made["encoding"]["x"]
    layers["shaded"]["transform"] = _chosen(trained, choices)
    x["scale"]["domain"] = [min(lengths[0], int(trained["shortest"].min())), lengths[-1]]
    x["axis"]["values"] = lengths
    names = [curve.name for curve in curves]
    made["encoding"]["color"]["scale"] = {"domain": names, "range": [curve.colour for curve in curves]}
    dashes = {"domain": names, "range": [list(curve.dashes) for curve in curves]}
    layers["means"]["encoding"]["strokeDash"]["scale"] = dashes
    return made


def _chosen(frame: pd.DataFrame, choices: Sequence[Choice]) -> list[dict[str, str]]:
    """Return filters for the rows of a frame that are chosen."""
    columns = [choice.column for choice in choices if choice.column in frame]
    return [{"filter": f"datum.{column} === chosen_{column}"} for column in columns]


def _selector(choice: Choice) -> dict[str, Any]:
    """Return a parameter of the chart, bound to a selector."""
    values = list(choice.labels)
    bind = {"input": "select", "name": choice.title, "options": values, "labels": list(choice.labels.values())}
    return {"name": f"chosen_{choice.column}", "value": values[0], "bind": bind}
