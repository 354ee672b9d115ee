"""The study of params.yaml: what the paper compares, and the treatment `norm`, on each range that is trained.

And the files of its results.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.frames import Files, read_csv
from vanishing_variance.harness.paths import METRICS, PLOTS
from vanishing_variance.harness.sections import Length, get_param
from vanishing_variance.measure.proposition import summary
from vanishing_variance.results.columns import rounded
from vanishing_variance.results.comparison import Answers
from vanishing_variance.results.files import TrainingSetup, comparison, recovery, without_interventions
from vanishing_variance.results.runs import REFERENCE, compared, line_of, lines_of, norm_of, range_of
from vanishing_variance.results.schema import by_rule
from vanishing_variance.studies.study import RANGE, Study

QUESTION = "What does the treatment, `norm` of params.yaml, bring beside none?"
EXPONENTS = "proposition-exponents.csv"


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
    )


def root_files(
    params: Mapping[str, Any], results: pd.DataFrame, answers: Answers, intervened: pd.DataFrame, proposed: pd.DataFrame
) -> dict[Path, Files]:
    """Return the paired tests, tables and what was measured inside the models, by folder. Raises InputError.

    `intervened`, `proposed`: what was measured, with task and line; of another network than the paper's it is nothing.
    """
    norm, tail = get_param(params, "norm", str), get_param(params, "proposition.tail", Length)
    trained = TrainingSetup.of(params, root_study(params).names)
    metrics = {"results.csv": results, **comparison(by_rule(results), answers, read_csv(REFERENCE), norm, trained)}
    if trained.network != PAPER:
        metrics |= without_interventions(trained.network)
        return {METRICS: metrics, PLOTS / "proposition": {EXPONENTS: pd.DataFrame(columns=summary.DRAWN)}}
    laws = summary.exponents(proposed, tail)
    metrics |= recovery(intervened, trained)
    metrics["proposition.json"] = summary.summary(proposed, laws, norm)
    drawn = {"proposition.csv": rounded(summary.lines(proposed)), EXPONENTS: rounded(laws[summary.DRAWN])}
    return {METRICS: metrics, PLOTS / "proposition": drawn}
