"""What the stages of dvc.yaml say that they need."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]


IMPORTS = """
import importlib, sys
importlib.import_module("stages." + sys.argv[1])
sys.exit(sys.argv[2] in sys.modules)
"""


@pytest.mark.parametrize(("need", "module"), [("processes", "core.parallel"), ("gpu", "core.device")])
def test_a_stage_says_so_when_it_starts_processes_or_computes_on_a_gpu_and_only_then(need, module):
    """Capacity computes on one core though it imports what could start processes; the page asks for the device."""
    scripts = {name: name.removesuffix("-long") for name in STAGES}
    needing = {name for name, stage in STAGES.items() if need in stage.get("meta", {})}
    command = [sys.executable, "-c", IMPORTS]
    importing = {
        name
        for name, script in scripts.items()
        if subprocess.run([*command, script, f"vanishing_variance.{module}"], cwd=ROOT, check=False).returncode
    }
    assert needing <= importing
    assert importing - needing <= {"processes": {"capacity"}, "gpu": set()}[need]
