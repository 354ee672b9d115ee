"""What the stages of dvc.yaml say that they need."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]


IMPORTED = """
import importlib, sys
importlib.import_module("stages." + sys.argv[1])
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def imported():
    """The modules that each stage's script imports."""
    scripts = {name: name.removesuffix("-long") for name in STAGES}
    modules = {
        script: subprocess.check_output([sys.executable, "-c", IMPORTED, script], cwd=ROOT, text=True).split()
        for script in set(scripts.values())
    }
    return {name: modules[script] for name, script in scripts.items()}


@pytest.mark.parametrize(("need", "module"), [("processes", "core.parallel"), ("gpu", "core.device")])
def test_a_stage_says_so_when_it_starts_processes_or_computes_on_a_gpu_and_only_then(imported, need, module):
    """Capacity computes on one core though it imports what could start processes; the page asks for the device."""
    needing = {name for name, stage in STAGES.items() if need in stage.get("meta", {})}
    importing = {name for name, modules in imported.items() if f"vanishing_variance.{module}" in modules}
    assert needing <= importing
    assert importing - needing <= {"processes": {"capacity"}, "gpu": set()}[need]
