"""The study of params.yaml: what the paper compares, and the treatment `norm`, on each range that is trained."""

from collections.abc import Mapping
from typing import Any

from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.harness.sections import get_param
from vanishing_variance.results.runs import NORMS, line_of
from vanishing_variance.studies.study import MEASUREMENTS, Study

QUESTION = "What does the treatment, `norm` of params.yaml, bring beside none?"


def root_study(params: Mapping[str, Any]) -> Study:
    """Return the study; its lines are of `results.runs.line_of`. Raises InputError."""
    treatment = get_param(params, "norm", str)
    lines: dict[str, dict[str, Any]] = {}
    compare = []
    for range_ in ranges_of(params):
        names = {norm: line_of(norm, range_) for norm in dict.fromkeys((*NORMS, treatment))}
        for norm, line in names.items():
            lines[line] = {"norm": norm, "range": range_}
        if params.get("norm_options"):
            lines[names[treatment]]["norm_options"] = params["norm_options"]
        others = dict.fromkeys(("ln", *names))  # the first is the partner of none, as in dvc.yaml
        compare += [[names[norm], names["none"]] for norm in others if norm != "none"]
        compare.append([names["ln"], names["std"]])
    return Study(
        question=QUESTION,
        tasks=list(get_param(params, "tasks", dict[str, Any])),
        lines=lines,
        compare=compare,
        measure=[*MEASUREMENTS],
    )
