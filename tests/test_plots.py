"""The plots that DVC shows (`dvc plots show`, `dvc plots diff`, the editor's extension)."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PIPELINE = yaml.safe_load((ROOT / "dvc.yaml").read_text())
OUTPUTS = {
    path
    for stage in PIPELINE["stages"].values()
    for out in stage.get("outs", [])
    for path in (out if isinstance(out, dict) else [out])
}
DRAWN = {name: plot for entry in PIPELINE["plots"] if isinstance(entry, dict) for name, plot in entry.items()}


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_has_a_title_named_axes_and_a_template_and_draws_columns_that_are_there(name):
    plot = DRAWN[name]
    text = (ROOT / f".dvc/plots/{plot['template']}.json").read_text()
    template = json.loads(text)
    for anchor in ("DATA", "X", "Y"):
        assert f"<DVC_METRIC_{anchor}>" in text, anchor
    assert not re.search("<DVC_METRIC_[XY]_LABEL>", text)
    assert ("<DVC_METRIC_TITLE>" in text) == ("title" in plot)
    axes = template.get("spec", template)["encoding"]
    assert axes["x"]["title"]
    assert axes["y"]["title"]
    assert template["title"]
    [(path, columns)] = plot["y"].items()
    assert path in OUTPUTS or str(Path(path).parent) in OUTPUTS
    there = set(pd.read_csv(ROOT / path, nrows=1))
    assert {plot["x"], *([columns] if isinstance(columns, str) else columns)} <= there


def test_lengths_are_on_a_logarithmic_axis_and_facets_in_order():
    for name in ("accuracy", "variance", "drift"):
        assert {plot["x"] for plot in DRAWN.values() if plot["template"] == name} == {"length"}
        scale = json.loads((ROOT / f".dvc/plots/{name}.json").read_text())["encoding"]["x"]["scale"]
        assert (scale["type"], scale["base"]) == ("log", 2)
    for name in ("densities", "weights"):  # what DVC reads from CSV is text, and "16384" comes before "4096"
        [made] = json.loads((ROOT / f".dvc/plots/{name}.json").read_text())["transform"]
        assert made == {"calculate": "toNumber(datum.length)", "as": "length"}


def test_every_picture_of_the_results_is_among_them():
    board = yaml.safe_load((ROOT / "leaderboard/dvc.yaml").read_text())["plots"]
    pictures = {entry for entry in PIPELINE["plots"] if isinstance(entry, str)}
    pictures |= {entry.removeprefix("../") for entry in board}
    drawn = {str(path.relative_to(ROOT)) for path in (ROOT / "plots").rglob("*.png")}
    assert pictures == drawn
