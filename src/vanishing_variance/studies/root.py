"""The study of params.yaml: what the paper compares, and the treatment `norm`, on each range that is trained."""

from collections.abc import Mapping
from typing import Any

from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.harness.sections import get_param
from vanishing_variance.results.runs import compared, line_of, lines_of, norm_of, range_of
from vanishing_variance.studies.study import RANGE, Study

QUESTION = "What does the treatment, `norm` of params.yaml, bring beside none?"


def root_study(params: Mapping[str, Any]) -> Study:
    """Return the study; its lines are of `results.runs.line_of`. Raises InputError."""
    treatment, ranges = get_param(params, "norm", str), ranges_of(params)
    lines: dict[str, dict[str, Any]] = {}
    for line in lines_of(treatment, ranges):
        lines[line] = {"norm": norm_of(line), RANGE: range_of(line)}
    if params.get("norm_options"):
        for range_ in ranges:
            lines[line_of(treatment, range_)]["norm_options"] = params["norm_options"]
    ln_first = sorted(lines, key=lambda line: norm_of(line) != "ln")  # the first is the partner of none, as in dvc.yaml
    return Study(
        question=QUESTION,
        tasks=list(get_param(params, "tasks", dict[str, Any])),
        lines=lines,
        compare=[list(pair) for pair in compared(ln_first)],
        measure=["inside", "interventions", "proposition"],
        statistics=["anytime"],
    )
