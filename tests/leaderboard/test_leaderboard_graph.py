"""The leaderboard's graph as it is written; tests/graph runs it."""

from pathlib import Path

import pytest
import yaml

STAGES = yaml.safe_load((Path(__file__).resolve().parents[2] / "leaderboard/dvc.yaml").read_text())["stages"]


@pytest.mark.parametrize("kind", ["train", "test"])
def test_the_stages_of_a_line_depend_on_no_other_line(kind):
    """So that a new line, and a new file of attentions/ or norms/, trains alone."""
    stage = STAGES[kind]["do"]
    declared = set()
    for params in stage["params"]:
        declared |= set(params.get("leaderboard/params.yaml", ()))
    assert declared == {"model", "tasks", "training", "treatments.${key}"}
    for folder in ("leaderboard", "src/vanishing_variance/attentions", "src/vanishing_variance/norms"):
        assert folder not in stage["deps"]
        assert f"{folder}/params.yaml" not in stage["deps"]
    for path in (*stage["outs"], *stage["deps"]):
        if path.startswith("runs/leaderboard"):
            assert path.endswith("/${key}")
