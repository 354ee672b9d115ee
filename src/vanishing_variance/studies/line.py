"""The runs of a line, and the files of a study."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

    def folder(self, kind: str) -> Path:
        """Return the folder of a kind: trained, checkpoints, evaluated."""
        return RUNS / "studies" / self.study / kind / f"{self.task}-{self.line}" / str(self.block)

    def __str__(self) -> str:
        return f"{self.line} {self.task}-{self.block}"


def plan_file(study: str) -> Path:
    """Return the path of the plans of a study's lines."""
    return STUDIES / study / "plan.yaml"


def runs(plan: Mapping[str, Any], task: str, range_: str, study: str, line: str) -> list[LineRun]:
    """Return the runs of a line, one a block of seeds."""
    names = task, range_, plan["norm"]
    return [LineRun(*names, block, plan["attention"], study, line) for block in plan["blocks"]]
