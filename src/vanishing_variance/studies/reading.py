"""The results of all lines of a study, as their tests wrote them (`studies.results`), and what stands beside them.

Of what lies in the folders, that of the runs of the plan alone is read. S seeds, I sequences.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from vanishing_variance.engine.run import Run
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import read_csv, read_frame
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.columns import MODEL, rows
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.choosing import read_choice
from vanishing_variance.studies.files import STUDIES, measured_file, plan_file
from vanishing_variance.studies.kept import check_once, read_kept, read_run, with_first_columns
from vanishing_variance.studies.made_of import check_made_of
from vanishing_variance.studies.results import INSIDE
from vanishing_variance.studies.study import Study, read_study
from vanishing_variance.studies.tuning import Tuned

# Of a line that is tuned: what stands in place of results.
ALL_FAILED = "in every setting a seed that chooses failed"


def read_results(name: str, study: Study, runs: Sequence[Run], tuned: Tuned | None = None) -> pd.DataFrame:
    """Return the results of all lines in the order of the study, with columns task and line.

    `runs`: those that are trained; `tuned`: the settings of lines that are tuned. Raises InputError where one, or a
    line that is kept, has no results, and where models were tested at different lengths.
    """
    tuned = tuned or Tuned()
    results = read_runs(name, study, runs, tuned)
    if study.tune:
        results = results_of_lines(study, results, tuned)
    check_lengths(name, lengths_of_models(results))
    return results


def read_runs(name: str, study: Study, runs: Sequence[Run], tuned: Tuned) -> pd.DataFrame:
    """Return the same, of each setting of a line that is tuned by the name of its runs."""
    kept = read_kept(name, study)
    frames = []
    seen = set()
    for task, line in product(study.tasks, study.names):
        settings = [tried.name for tried in tuned.settings(task, line)]
        for run_name in settings if study.grid(line) else [line]:
            if (task, run_name) in seen:  # lines may share runs
                continue
            seen.add((task, run_name))
            frames.append(rows(kept, task=task, line=run_name))
            frames += [read_run(run) for run in runs if (run.task, run.line) == (task, run_name)]
    results = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    results = with_first_columns(results, *MODEL, "length", *INSIDE, "note")
    where = f"{STUDIES / name}/results" if name else "runs/tested"
    check_once(where, results)
    check_made_of(where, results)
    return at_lengths(results, study)


def read_measured(kind: str, runs: Sequence[Run]) -> pd.DataFrame:
    """Return what was measured beside the tests of some runs: interventions, or proposition. Raises InputError."""
    return _of_runs(runs, lambda run: read_csv(measured_file(run, kind)))


def read_losses(runs: Sequence[Run]) -> pd.DataFrame:
    """Return the training losses of some runs. Raises InputError."""
    return _of_runs(runs, lambda run: read_frame(run.losses))


def _of_runs(runs: Sequence[Run], read: Callable[[Run], pd.DataFrame]) -> pd.DataFrame:
    """Return what some runs have as one frame, with columns task and line."""
    frames = [read(run).assign(task=run.task, line=run.line) for run in runs]
    measured = [frame for frame in frames if len(frame)] or frames[:1]  # of a diverged one, a column has no type
    return pd.concat(measured, ignore_index=True) if measured else pd.DataFrame()


def read_answers(runs: Sequence[Run], task: str, line: str) -> dict[str, Bool[np.ndarray, "S I"]]:
    """Return whether each answer of a line on a task is correct, by `<rule>-<length>`. Raises InputError."""
    of_line = [run for run in runs if (run.task, run.line) == (task, line)]
    parts = [read_arrays(run.folder("tested") / "answers.safetensors") for run in of_line]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def results_of_lines(study: Study, results: pd.DataFrame, tuned: Tuned) -> pd.DataFrame:
    """Return the results of lines from those of their settings: of its own seeds at the chosen one.

    A line of which every setting failed has a row with a note.
    """
    frames = []
    for task, line in product(study.tasks, study.names):
        chosen = tuned.chosen(task, line)
        if not study.grid(line):
            frames.append(rows(results, task=task, line=line))
        elif chosen:
            of_setting = rows(results, task=task, line=chosen.name)
            is_kept = (line in study.kept) & ~of_setting["seed"].isin(tuned.choosing)
            is_own = of_setting["seed"].isin(tuned.seeds[line]) | of_setting["seed"].isna()
            own = of_setting[is_kept | is_own]
            if own.empty:
                raise InputError(f"{chosen.name}, chosen for line {line} on {task}, has no seed of blocks of that line")
            frames.append(own.assign(line=line))
        elif tuned.settings(task, line):  # a kept line may have nothing of a task
            frames.append(pd.DataFrame([{"task": task, "line": line, "note": ALL_FAILED}]))
    found = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    return found.reindex(columns=list(results))


def at_lengths(results: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the results at the lengths of a study: kept ones may have more."""
    if not study.lengths:
        return results
    return results[results["length"].isin([0, *study.lengths]) | results["length"].isna()]


def lengths_of_models(results: pd.DataFrame) -> dict[str, list[int]]:
    """Return the lengths at which models were tested, by what says whose they are."""
    tested = results[results["length"] > 0]
    by_model = {}
    for (task, line, seed), lengths in tested.groupby(MODEL)["length"]:
        by_model[f"line {line}, seed {seed} on {task}"] = sorted(map(int, lengths))
    return by_model


def check_lengths(name: str, lengths: Mapping[str, list[int]]) -> None:
    """Raise InputError where models were tested at different lengths; `lengths`: by what has them."""
    for (model, tested), (other, others) in pairwise(lengths.items()):
        if tested != others:
            said = f"{STUDIES / name}: {model} is tested at {tested}, and {other} at {others}"
            raise InputError(f"{said}; set lengths in study.yaml to those that both have")


def read_all(name: str, params: Mapping[str, Any]) -> tuple[Study, pd.DataFrame]:
    """Return a study and its results, as it was planned last. Raises InputError."""
    study = read_study(name)
    path = plan_file(name)  # which a study of kept lines alone has not
    runs = Planned(name, read_yaml(path)).runs if study.lines and path.exists() else []
    return study, read_results(name, study, runs, read_choice(name, study, params))
