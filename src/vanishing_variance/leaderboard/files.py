"""Files of the leaderboard: a folder per line and task, and what a training that diverged leaves in it."""

from dataclasses import dataclass
from pathlib import Path

from vanishing_variance.harness.paths import RUNS, Run

# Rules by which the board and its figure choose rows.
PLAIN, HARD = "plain", "hard"
# A training that diverged leaves this instead of weights, and its test passes it on: {"said": the error's message}.
DIVERGED = "diverged.json"


@dataclass(frozen=True)
class LineRun(Run):
    """The models of a line, of one task."""

    line: str = ""

    def folder(self, kind: str) -> Path:
        """Return the folder of a kind: trained, checkpoints, evaluated."""
        return RUNS / "leaderboard" / kind / self.line / self.task

    def __str__(self) -> str:
        return f"{self.line} {self.task}"
