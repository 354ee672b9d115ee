"""The arguments of the stages that work on one block of seeds of a line and one task."""

from typing import Any

from vanishing_variance.harness.errors import shown
from vanishing_variance.harness.script import Arguments
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.line import LineRun, plan_file


def planned_run(description: str | None, *parts: str) -> tuple[dict[str, Any], LineRun]:
    """Return parts of a line's plan (train, test) as one, and the run. Exit with code 2 on another argument."""
    parser = Arguments(description=description)
    parser.add_argument("study", help="a folder of studies")
    parser.add_argument("run", help="<task>-<line>-<block>, as in the study's plan.yaml, which study_plan writes")
    chosen = parser.parse_args()
    path = plan_file(chosen.study)
    planned = read_yaml(path)
    if chosen.run not in planned["train"]:
        names = ", ".join(planned["train"]) or "none"
        parser.error(f"argument run: {path} has no {shown(chosen.run)}; choose from {names}")
    task_and_line, _, block = chosen.run.rpartition("-")
    task, _, line = task_and_line.partition("-")
    plan = {key: value for part in parts for key, value in planned["plans"][task_and_line][part].items()}
    (range_,) = plan["ranges"]
    return plan, LineRun(task, range_, plan["norm"], int(block), plan["attention"], chosen.study, line)
