"""Machine, versions and commit that times were measured with."""

import platform
import subprocess
from typing import Any

import numpy as np
import torch

from benchmarks import ROOT
from vanishing_variance.harness.machine import cores, cpuinfo


def machine() -> dict[str, Any]:
    """Return the device and its number of cores, versions, and the git revision of this checkout."""
    processor = cpuinfo().get("model name") or platform.processor()
    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else processor,
        "cores": cores(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        "revision": _revision(),
    }


def _revision() -> str:
    """Return the commit; `-dirty` where code that makes numbers differs from it."""
    changed = _git("status", "--porcelain", "--", "src", "stages", "benchmarks/*.py", "dvc.yaml")
    return _git("rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:  # as on a rented GPU
        return ""
