"""Folders and files of results."""

import os
import sysconfig
from pathlib import Path

# Of Python and of what is installed.
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})

RUNS = Path("runs")
DATA = Path("data")
# Training losses of all runs.
LOSSES = RUNS / "losses.parquet"
METRICS = Path("metrics")
PLOTS = Path("plots")
# Figures of the stage `figures`, and the data of its figures and of DVC's plots.
FIGURES, PLOT_DATA = PLOTS / "figures", PLOTS / "data"


def sequences(task: str, length: int) -> Path:
    """Return the file of the test sequences of one task and length."""
    return DATA / task / f"{length:08d}.safetensors"


def cache() -> Path:
    """Return the folder of this user's cache, whichever the project: compiled sources."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vanishing-variance"


def is_installed(path: str) -> bool:
    """Return whether a file or folder is Python's or a library's, and not one's own."""
    return path.startswith(_LIBRARIES) or not {"site-packages", "dist-packages"}.isdisjoint(Path(path).parts)
