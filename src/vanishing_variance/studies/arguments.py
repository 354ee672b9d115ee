"""The arguments of the stages that work on one line of a study and one task."""

from typing import Any

from vanishing_variance.harness.errors import shown
from vanishing_variance.harness.script import Arguments
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.line import LineRun, plan_file, runs


def planned_line(description: str | None, *parts: str) -> tuple[dict[str, Any], list[LineRun]]:
    """Return parts of a line's plan (train, test) as one, and its runs. Exit with code 2 on another argument."""
    parser = Arguments(description=description)
    parser.add_argument("study", help="a folder of studies")
    parser.add_argument("line", help="<task>-<line>, as in the study's plan.yaml, which study_plan writes")
    chosen = parser.parse_args()
    path = plan_file(chosen.study)
    plans = read_yaml(path)["plans"]
    if chosen.line not in plans:
        parser.error(f"argument line: {path} has no {shown(chosen.line)}; choose from {', '.join(plans) or 'none'}")
    plan = {key: value for part in parts for key, value in plans[chosen.line][part].items()}
    task, _, line = chosen.line.partition("-")
    (range_,) = plan["ranges"]
    return plan, runs(plan, task, range_, chosen.study, line)
