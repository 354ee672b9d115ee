"""The argument of the stages that work on one line of a study and one task."""

import re
from pathlib import Path
from typing import Any

from vanishing_variance.engine.registry import task_names
from vanishing_variance.harness.paths import PAPER
from vanishing_variance.harness.script import Arguments
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.plan import LineRun, runs


def planned_line(description: str | None) -> tuple[dict[str, Any], list[LineRun]]:
    """Return the plan that the argument names, and its runs. Exit with code 2 on another argument."""
    parser = Arguments(description=description)
    parser.add_argument("plan", type=Path, help="studies/<study>/plan/<task>-<line>.yaml, which study_plan writes")
    path = parser.parse_args().plan
    named = re.fullmatch(rf"studies/([a-z0-9-]+)/plan/({'|'.join(task_names())})-([a-z0-9-]+)\.yaml", path.as_posix())
    if named is None:
        parser.error(f"argument plan: {path} must be studies/<study>/plan/<task>-<line>.yaml")
    study, task, line = named.groups()
    plan = {"network": PAPER, **read_yaml(path)}
    (range_,) = plan["ranges"]
    return plan, runs(plan, task, range_, study, line)
