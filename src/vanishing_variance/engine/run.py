"""A run: one block of seeds of a line of a study on one task, and its folders."""

from dataclasses import dataclass
from pathlib import Path

from vanishing_variance.harness.paths import RUNS

# The paper's network, trained by this engine.
PAPER = "paper"


@dataclass(frozen=True)
class Run:
    """One block of seeds of a line on a task; `study` is its folder of studies/, nothing for that of params.yaml.

    `range`, `norm` and `attention` are those that the line is trained with.
    """

    task: str
    line: str
    block: int
    range: str = "short"
    norm: str = "none"
    attention: str = "softmax"
    study: str = ""

    @property
    def key(self) -> str:
        """The name of its stages after the kind: <task>-<line>-<block>, in the root <task>-<range>-<norm>-<block>."""
        line = self.line if self.study else f"{self.range}-{self.norm}"
        return f"{self.task}-{line}-{self.block}"

    def folder(self, kind: str) -> Path:
        """Return the run's folder of a kind: trained, checkpoints, tested, interventions, proposition."""
        if self.study:
            return RUNS / "studies" / self.study / kind / self.key
        return RUNS / kind / self.norm / self.range / f"{self.task}-{self.block}"

    @property
    def weights(self) -> Path:
        """The trained weights."""
        return self.folder("trained") / "weights.safetensors"

    @property
    def losses(self) -> Path:
        """The training losses."""
        return self.folder("trained") / "losses.parquet"

    def __str__(self) -> str:
        return f"{self.line} {self.task}-{self.block}"
