"""What the page and the README show of studies, read from their results in git."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.report.strongest import PAPER_SCALE, Judged
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.answer import answer
from vanishing_variance.results.compare.paired_tests import paired_tests
from vanishing_variance.results.runs import TASKS
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.studies.paper_tables import claims_of, evidence_of
from vanishing_variance.studies.parameters import PAPERS_NORM, params_of_tables
from vanishing_variance.studies.reading import by_rule, read_all
from vanishing_variance.studies.study import read_study


def read_judged(params: Mapping[str, Any]) -> Judged:
    """Return the claims of the study at the paper's scale; `params`: those of params.yaml. Raises InputError.

    Judged anew, and not read: its claims.json may be of fewer results than what stands beside them.
    """
    claims = claims_of(read_evidence(params))["claims.json"]
    return Judged(claims, params_of_tables(params, read_study(PAPER_SCALE)))


def read_evidence(params: Mapping[str, Any]) -> Evidence:
    """Return what the claims of that study rest on. Raises InputError."""
    study, results = read_all(PAPER_SCALE, params)
    return evidence_of(study, params_of_tables(params, study), results)


def read_tests(params: Mapping[str, Any]) -> pd.DataFrame:
    """Return the paired tests of that study. Raises InputError."""
    evidence = read_evidence(params)
    return paired_tests(evidence.accuracy, None, PAPERS_NORM, list(evidence.training.longest))


# By the name in `figures.target`: the line, and its study by task.
NETWORKS = {
    "none": ("none", dict.fromkeys(TASKS, "fresh")),
    "ln": ("ln", dict.fromkeys(TASKS, "fresh")),
    "three changes": ("three-changes-none", dict.fromkeys(TASKS, "fresh")),
    "a Transformer layer": ("linear-none", {"argmax": "depth-argmax", "dictionary": "depth"}),
}


def read_target(params: Mapping[str, Any]) -> pd.DataFrame:
    """Return the attention weight of the target by network, task and length: mean (%), low, high, of n seeds.

    Of the last weights; of several heads that which has most. With 95% t intervals. Raises InputError.
    """
    means = []
    for network, (line, studies) in NETWORKS.items():
        for task, name in studies.items():
            _, results = read_all(name, params)
            tested = rows(results, task=task, line=line)
            tested = tested[tested["length"] > 0]
            weight = 100 * tested.filter(regex="^target").max(axis=1)
            for length, values in weight.groupby(tested["length"]):
                means.append((network, task, length, len(values), *interval(values.to_numpy())))
    return pd.DataFrame(means, columns=["network", "task", "length", "n", "mean", "low", "high"])


def read_answer(params: Mapping[str, Any]) -> pd.DataFrame:
    """Return the answer in five treatments (`results.answer`). Raises InputError."""
    return answer({name: by_rule(read_all(name, params)[1]) for name in (PAPER_SCALE, "fresh")})
