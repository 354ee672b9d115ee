"""Where the stages put what they make, and which runs a study consists of."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RUNS = Path("runs")
DATA = Path("data")
METRICS = Path("metrics")
PLOTS = Path("plots")
REFERENCE = Path("reference/paper.csv")

# What the paper compares, whatever the treatment is: the ablation of Tables 3 and 6.
PAPER_NORMS = ("none", "std", "ln")


@dataclass(frozen=True)
class Run:
    """One block of seeds of one variant."""

    task: str
    range: str
    norm: str
    block: int

    def path(self, kind: str, suffix: str = "") -> Path:
        """Where the run's `kind` is: weights, losses, accuracy or diagnostics."""
        return RUNS / kind / self.norm / self.range / f"{self.task}-{self.block}{suffix}"

    def __str__(self) -> str:
        return f"{self.task}-{self.range}-{self.norm}-{self.block}"


def sequences(task: str, length: int) -> Path:
    """The test sequences of one task and length."""
    return DATA / task / f"{length:08d}.safetensors"


def expected(norm: str, tasks: Sequence[str], ranges: Sequence[str], blocks: Sequence[int]) -> list[Run]:
    """Every run of the study with treatment `norm`: what is downstream reads these, and no other that lies there."""
    norms = dict.fromkeys((*PAPER_NORMS, norm))
    return [Run(task, range_, norm, block) for task in tasks for range_ in ranges for norm in norms for block in blocks]
