"""The plots that DVC shows (`dvc plots show`, `dvc plots diff`, the editor's extension)."""

import json
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
    assert plot["title"]
    assert {"x_label", "y_label"} <= set(plot)
    template = ROOT / f".dvc/plots/{plot['template']}.json"
    text = template.read_text()
    json.loads(text)
    for anchor in ("DATA", "TITLE", "X", "Y", "X_LABEL", "Y_LABEL"):
        assert f"<DVC_METRIC_{anchor}>" in text, anchor
    [(path, columns)] = plot["y"].items()
    assert path in OUTPUTS
    there = set(pd.read_csv(ROOT / path, nrows=1))
    assert {plot["x"], *([columns] if isinstance(columns, str) else columns)} <= there


def test_lengths_are_on_a_logarithmic_axis_and_facets_in_order():
    over_length = [plot["template"] for plot in DRAWN.values() if plot["x"] == "length"]
    assert over_length == ["lengths"] * 6
    scale = json.loads((ROOT / ".dvc/plots/lengths.json").read_text())["encoding"]["x"]["scale"]
    assert (scale["type"], scale["base"]) == ("log", 2)
    for name in ("densities", "weights"):  # what DVC reads from CSV is text, and "16384" comes before "4096"
        [made] = json.loads((ROOT / f".dvc/plots/{name}.json").read_text())["transform"]
        assert made == {"calculate": "toNumber(datum.length)", "as": "length"}


def test_every_picture_of_the_results_is_among_them():
    pictures = {entry for entry in PIPELINE["plots"] if isinstance(entry, str)}
    assert pictures == {path for path in OUTPUTS if path.endswith(".png")}
