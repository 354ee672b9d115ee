"""Where the stages put what DVC caches."""

import os
from dataclasses import dataclass
from pathlib import Path

RUNS = Path("runs")
DATA = Path("data")
# How long each stage took, where it ran: not an output, so that it changes no hash.
TIMES = RUNS / "times"


@dataclass(frozen=True)
class Run:
    """One block of seeds of one variant."""

    task: str
    range: str
    norm: str
    block: int

    def path(self, kind: str, suffix: str = "") -> Path:
        """Where the run's `kind` is: weights, losses, checkpoints, answers, accuracy, …"""
        return RUNS / kind / self.norm / self.range / f"{self.task}-{self.block}{suffix}"

    def __str__(self) -> str:
        return f"{self.task}-{self.range}-{self.norm}-{self.block}"


def temperature(run: Run) -> Path:
    """The adaptive temperature fitted to the models of a variant, the same for all its blocks."""
    return RUNS / "temperature" / run.norm / run.range / f"{run.task}.json"


def sequences(task: str, length: int) -> Path:
    """The test sequences of one task and length."""
    return DATA / task / f"{length:08d}.safetensors"


def cache() -> Path:
    """What is kept for this user, whichever the project: compiled sources, locks."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vanishing-variance"
