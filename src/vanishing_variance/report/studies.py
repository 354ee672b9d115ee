"""Read what the page and the README show of studies: their results in git, compared."""

from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Any

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.report.strongest import PAPER_SCALE, Results
from vanishing_variance.results.arms import BEYOND, LENGTHS
from vanishing_variance.results.columns import LAST, rows
from vanishing_variance.results.comparison import compare
from vanishing_variance.results.paper import PAPER_LONGEST
from vanishing_variance.results.runs import TASKS, compared
from vanishing_variance.results.schema import by_rule
from vanishing_variance.results.tables import WANTED, tests
from vanishing_variance.studies.parameters import params_of_tables
from vanishing_variance.studies.reading import read_all
from vanishing_variance.studies.tables import claims_of, evidence_of

# The answer in five arms, trained on up to 16 items: by name and task the study, its line there, and the rule of the
# test. The first two have the paper's training; a tuned one is that of the lowest loss at the training lengths of all
# schedules, rates and weights that were tried.
TREATMENTS = {
    "none, paper's training": dict.fromkeys(TASKS, (PAPER_SCALE, "none", LAST)),
    "LN, paper's training": dict.fromkeys(TASKS, (PAPER_SCALE, "ln", LAST)),
    "none, tuned": {
        "argmax": ("tuned-argmax", "none", LAST),
        "dictionary": ("best", "none-averaged-long", "averaged"),
    },
    "LN, tuned": {
        "argmax": ("tuned-argmax", "ln", LAST),
        "dictionary": ("best", "ln-falls-long", LAST),
    },
    "three changes": dict.fromkeys(TASKS, ("fresh", "three-changes-none", LAST)),
}


def read_paper_scale(params: Mapping[str, Any]) -> tuple[Results, Evidence]:
    """Return the results of the study at the paper's scale, and what its claims rest on; `params`: of params.yaml.

    Judged anew, and not read: its claims.json may be of fewer results than what stands beside them. Raises InputError.
    """
    study, results = read_all(PAPER_SCALE, params)
    own = params_of_tables(params, study)
    evidence = evidence_of(study, own, results)
    longest, sequences = evidence.training.longest, evidence.training.sequences
    frame = compare(evidence.accuracy, compared(longest), longest, sequences, WANTED)
    return Results(claims_of(evidence)["claims.json"], own, tests(frame[frame["n"] > 0])), evidence


def read_answer(params: Mapping[str, Any]) -> pd.DataFrame:
    """Return the mean accuracy (%) of n seeds by task, treatment and length, or BEYOND in its place. Raises InputError.

    With its 95% t interval, `low` and `high`.
    """
    tested = cache(lambda name: by_rule(read_all(name, params)[1]))
    longest = PAPER_LONGEST["short"]
    wanted = [("accuracy", LENGTHS), ("accuracy", BEYOND)]
    found = []
    for task, (treatment, sources) in product(TASKS, TREATMENTS.items()):
        study, line, rule = sources[task]
        of_task = rows(tested(study), task=task)
        frame = compare(of_task, [(line, "")], {line: longest}, 0, wanted, rules=[rule])
        found.append(frame.rename(columns={"scope": "length", "value": "mean"}).assign(treatment=treatment))
    return pd.concat(found, ignore_index=True)
