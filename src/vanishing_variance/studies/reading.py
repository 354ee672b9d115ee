"""The results of all lines of a study, as their tests wrote them (`studies.results`)."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.runs import RULES
from vanishing_variance.statistics.intervals import NAN
from vanishing_variance.studies.line import STUDIES
from vanishing_variance.studies.parameters import line_params, runs_of, seeds_of, unchecked_params
from vanishing_variance.studies.results import INSIDE, LOSS, results_file
from vanishing_variance.studies.steps import STEP
from vanishing_variance.studies.study import Study, read_study

MODEL = ["task", "line", "seed"]


def read_kept(name: str) -> pd.DataFrame:
    """Return the results of the seeds that are kept; none where a study has no such file."""
    path = results_file(name, "kept")
    return read_csv(path, *MODEL, "length") if path.exists() else pd.DataFrame(columns=[*MODEL, "length"])


def check_kept(name: str, params: Mapping[str, Any]) -> None:
    """Raise InputError where a seed that is kept would be trained."""
    study = read_study(name)
    kept = read_kept(name)
    for line in study.lines.keys() & study.kept.keys():
        again = seeds_of(line_params(params, study, line)) & set(rows(kept, line=line)["seed"])
        if again:
            path = results_file(name, "kept")
            raise InputError(f"{path} has seed {min(again)} of line {line}, as its blocks have; change its blocks")


def read_results(name: str, study: Study, runs: Sequence[str]) -> pd.DataFrame:
    """Return the results of all lines in the order of the study, with columns task and line.

    `runs`: `<line>-<block>` of the blocks that are trained. Raises InputError where one, or a line that is kept, has
    no results.
    """
    kept = read_kept(name)
    missing = study.kept.keys() - set(kept["line"])
    if missing:
        path = results_file(name, "kept")
        raise InputError(f"{STUDIES / name}/study.yaml: kept has {min(missing)}, of which {path} has no seeds")
    frames = []
    for task, line in product(study.tasks, study.names):
        if line in study.kept:
            frames.append(rows(kept, task=task, line=line))
        for run in (run for run in runs if run.rpartition("-")[0] == line):
            tested = read_csv(results_file(name, f"{task}-{run}"))
            frames.append(tested.assign(task=task, line=line))
    found = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    found = found.reindex(columns=list(dict.fromkeys([*MODEL, "length", *INSIDE, "note", *found])))
    if study.lengths:  # a kept line may have more
        found = found[found["length"].isin([0, *study.lengths]) | found["length"].isna()]
    return found


def read_all(name: str, params: Mapping[str, Any]) -> tuple[Study, pd.DataFrame]:
    """Return a study and its results, of the blocks that it has by params.yaml. Raises InputError."""
    study = read_study(name)
    resolved = {line: unchecked_params(params, study, line) for line in study.names}
    return study, read_results(name, study, runs_of(study, resolved))


def as_runs(study: Study, results: pd.DataFrame) -> pd.DataFrame:
    """Return the results of a study of the paper's treatments with columns range and norm, sorted as those of a run."""
    norms = {line: study.own(line)["norm"] for line in study.names}
    named = results.assign(range=results["line"].map(study.range_of), norm=results["line"].map(norms))
    return named.sort_values(["task", "range", "norm", "seed", "length"], ignore_index=True)


def by_rule(results: pd.DataFrame) -> pd.DataFrame:
    """Return a row a model, rule and tested length: `rule`, `accuracy`, `loss`, and what is inside.

    A diverged training has its `note` alone.
    """
    tested = results[results["length"] != 0]
    rules = [name for name in map(str, results) if name in RULES or name.startswith(STEP)]
    others = tested.drop(columns=[*rules, *(name for name in results if str(name).startswith(f"{LOSS}_"))])
    parts = [others[others["note"].notna()]]
    for rule in rules:
        part = others.assign(rule=rule, accuracy=tested[rule], **{LOSS: tested.get(f"{LOSS}_{rule}", NAN)})
        parts.append(part.dropna(subset="accuracy"))
    return pd.concat(parts).sort_index(kind="stable")
