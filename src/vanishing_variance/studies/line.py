"""The runs of a line, and the files of a study."""

from dataclasses import dataclass
from pathlib import Path

from vanishing_variance.engine.run import Run
from vanishing_variance.harness.paths import RUNS

STUDIES = Path("studies")
# A training that diverged leaves this instead of weights: {"said": the message of the error}.
DIVERGED = "diverged.json"


@dataclass(frozen=True)
class LineRun(Run):
    """One block of seeds of a line."""

    study: str = ""
    line: str = ""

    @property
    def name(self) -> str:
        """The name of its stages after the kind, and of its files."""
        return f"{self.task}-{self.line}-{self.block}"

    def folder(self, kind: str) -> Path:
        """Return the folder of a kind: trained, checkpoints."""
        return RUNS / "studies" / self.study / kind / self.name

    def __str__(self) -> str:
        return f"{self.line} {self.task}-{self.block}"


def plan_file(study: str) -> Path:
    """Return the path of the plans of a study's lines."""
    return STUDIES / study / "plan.yaml"
