"""The plots that DVC shows (`dvc plots show`, `dvc plots diff`, the editor's extension)."""

import json
import re

import pandas as pd
import pytest
import yaml
from checkout import ROOT

PIPELINE = yaml.safe_load((ROOT / "dvc.yaml").read_text())
DRAWN = {name: plot for entry in PIPELINE["plots"] if isinstance(entry, dict) for name, plot in entry.items()}


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_has_named_axes_and_a_template_and_draws_columns_that_are_there(name):
    plot = DRAWN[name]
    text = (ROOT / f".dvc/plots/{plot['template']}.json").read_text()
    template = json.loads(text)
    assert all(f"<DVC_METRIC_{anchor}>" in text for anchor in ("DATA", "X", "Y"))
    assert not re.search("<DVC_METRIC_[XY]_LABEL>", text)
    assert ("<DVC_METRIC_TITLE>" in text) == ("title" in plot)
    axes = template.get("spec", template)["encoding"]
    assert all((template["title"], axes["x"]["title"], axes["y"]["title"]))
    [(path, columns)] = plot["y"].items()
    there = set(pd.read_csv(ROOT / path, nrows=1))
    assert {plot["x"], *([columns] if isinstance(columns, str) else columns)} <= there


def test_every_picture_of_the_results_is_among_them():
    pictures = {entry for entry in PIPELINE["plots"] if isinstance(entry, str)}
    drawn = {str(path.relative_to(ROOT)) for path in (ROOT / "plots").rglob("*.png")}
    assert {path for path in drawn if not path.startswith(tuple(pictures))} == set()
