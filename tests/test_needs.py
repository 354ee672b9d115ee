"""What the stages of dvc.yaml say that they need."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]


@pytest.mark.parametrize(
    ("need", "module"),
    [("processes", "src/vanishing_variance/parallel.py"), ("gpu", "src/vanishing_variance/device.py")],
)
def test_a_stage_says_so_when_it_starts_processes_or_computes_on_a_gpu_and_only_then(need, module):
    assert {name for name, stage in STAGES.items() if need in stage.get("meta", {})} == {
        name for name, stage in STAGES.items() if module in stage["deps"]
    }
