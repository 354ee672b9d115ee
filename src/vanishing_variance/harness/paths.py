"""Folders and files of the study's results, and the name of the paper's network."""

import os
from dataclasses import dataclass
from pathlib import Path

RUNS = Path("runs")
DATA = Path("data")
# Seconds that each stage took, where it ran: not an output, so that it changes no hash.
TIMES = RUNS / "times"
# What the stages depend on of the choices that params.yaml names: a file each with the hashes of what it imports.
CHOICES = RUNS / "choices"
# The network of all models: its name and, but for the paper's, its options and the hashes of what trains it.
NETWORK = CHOICES / "network.yaml"
# Training losses of `none` and the treatment.
LOSSES = RUNS / "losses.parquet"
METRICS = Path("metrics")
PLOTS = Path("plots")
# Figures of the stage `figures`, and the data of its figures and of DVC's plots.
FIGURES, PLOT_DATA = PLOTS / "figures", PLOTS / "data"
# The paper's network, trained by the fast engine.
PAPER = "paper"


@dataclass(frozen=True)
class Run:
    """One block of seeds of one variant."""

    task: str
    range: str
    norm: str
    block: int
    attention: str = "softmax"

    def folder(self, kind: str) -> Path:
        """Return the run's folder of a kind: trained, checkpoints, evaluated, interventions, proposition."""
        return RUNS / kind / self.attention / self.norm / self.range / f"{self.task}-{self.block}"

    @property
    def weights(self) -> Path:
        """The trained weights."""
        return self.folder("trained") / "weights.safetensors"

    @property
    def losses(self) -> Path:
        """The training losses."""
        return self.folder("trained") / "losses.parquet"

    def __str__(self) -> str:
        return f"{self.task}-{self.range}-{self.attention}-{self.norm}-{self.block}"


def sequences(task: str, length: int) -> Path:
    """Return the file of the test sequences of one task and length."""
    return DATA / task / f"{length:08d}.safetensors"


def cache() -> Path:
    """Return the folder of this user's cache, whichever the project: compiled sources, locks."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vanishing-variance"
