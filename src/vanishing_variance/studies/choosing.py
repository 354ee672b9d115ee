"""The choice of a tuned study as files have it: what its results say, and choice.yaml, which is in git."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter, ValidationError

from vanishing_variance.engine.drawing import labels_of, sample
from vanishing_variance.engine.registry import load_task
from vanishing_variance.engine.run import Run
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.sections import get_param
from vanishing_variance.harness.yaml import OPTION, flattened, read_yaml
from vanishing_variance.results.columns import rows
from vanishing_variance.studies.files import STUDIES, kept_file, results_file
from vanishing_variance.studies.kept import read_kept, read_run
from vanishing_variance.studies.ladder import values_between, values_beyond
from vanishing_variance.studies.parameters import (
    check_batch,
    line_params,
    longest_of_ranges,
    seeds_of,
    unchecked_params,
)
from vanishing_variance.studies.search import choice_of
from vanishing_variance.studies.study import Choose, Study, is_numeric
from vanishing_variance.studies.tuning import Choice, Tuned, run_names, tuned_lines

# Sequences, of the longest training length, whose most frequent label is what chance is.
OF_CHANCE = 4096
# In the note of a test for which there was not memory enough.
TOO_LARGE = "needs more memory"


def choice_file(name: str) -> Path:
    """Return the path of the choice of a study: its settings, what has shown each, and which is chosen."""
    return STUDIES / name / "choice.yaml"


def read_choice(name: str, study: Study, params: Mapping[str, Any]) -> Tuned:
    """Return the choice in its file, or where there is none, what the results say. Raises InputError."""
    path = choice_file(name)
    basis = basis_of_choice(study, params)
    if not study.tune or not path.exists():
        return choose(name, study, basis)
    try:
        tried = TypeAdapter(Choice).validate_python(read_yaml(path))
    except ValidationError:
        raise InputError(f"{path}: is not as make study wrote it; delete it, and it is written again") from None
    if {task: list(lines) for task, lines in tried.items()} != dict.fromkeys(study.tasks, tuned_lines(study)):
        raise InputError(f"{path}: is not of the tasks and lines of study.yaml now; go on by make study NAME={name}")
    return basis.model_copy(update={"tried": tried})


def write_choice(name: str, tuned: Tuned) -> None:
    """Write the choice of a study, a line a setting."""
    lines = []
    for task, of_task in tuned.tried.items():
        lines.append(f"{task}:")
        for line, settings in of_task.items():
            lines.append(f"  {line}:" if settings else f"  {line}: []")
            lines += [f"  - {json.dumps(tried.model_dump(exclude_defaults=True))}" for tried in settings]
    write_text(choice_file(name), "\n".join(lines) + "\n")


def basis_of_choice(study: Study, params: Mapping[str, Any]) -> Tuned:
    """Return what a choice is made with, without one."""
    if study.choose is None:
        return Tuned()
    of_lines = {line: unchecked_params(params, study, line) for line in study.names}
    first = next(iter(of_lines.values()))
    longest = longest_of_ranges(first, study)
    beyond, between = _beyond_and_between(study, params, study.choose)
    return Tuned(
        choosing=sorted(seeds_of({**first, "blocks": study.choose.blocks})),
        seeds={line: sorted(seeds_of(of_line)) for line, of_line in of_lines.items()},
        longest=longest,
        chance={task: {length: _chance(first, task, length) for length in longest.values()} for task in study.tasks},
        beyond=beyond,
        between=between,
    )


def _beyond_and_between(
    study: Study, params: Mapping[str, Any], choose: Choose
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return by key the values by which its grid may grow, and those in the middle between others."""
    beyond, between = {}, {}
    for key, values in flattened(study.tune).items():
        if is_numeric(values) and len(values) > 1:
            beyond[key] = _allowed(study, params, key, values_beyond(values, choose.grow))
            between[key] = _allowed(study, params, key, values_between([*values, *beyond[key]], choose.refine))
    return beyond, between


def _allowed(study: Study, params: Mapping[str, Any], key: str, values: Iterable[Any]) -> list[Any]:
    """Return the values of a key that all lines that are trained may have."""
    lines = [line for line in study.lines if key in study.grid(line)]
    return [value for value in values if all(_may_have(study, params, line, {key: value}) for line in lines)]


def _may_have(study: Study, params: Mapping[str, Any], line: str, setting: Mapping[str, Any]) -> bool:
    first = {key: values[0] for key, values in study.grid(line).items()}
    try:
        own = line_params(params, study, line, {**first, **setting})
        if any(OPTION.search(key) for key in setting):  # which the class itself checks
            for task in study.tasks:
                check_batch(own, Run(task, line, 0, study.range_of(line), own["norm"], own["attention"]))
    except InputError:
        return False
    return True


def _chance(params: Mapping[str, Any], name: str, length: int) -> float:
    task = get_param(params, f"tasks.{name}.data", load_task(name))
    drawn = sample(task, stream(0, "chance", name), OF_CHANCE, length)
    _, counts = np.unique(labels_of(task, drawn), return_counts=True)
    return round(float(counts.max() / OF_CHANCE), 6)


def choose(name: str, study: Study, basis: Tuned, otherwise: Collection[Path] = ()) -> Tuned:
    """Return the choice by the results that are there; of a study without tune nothing.

    `otherwise`: files of results whose models were trained otherwise than they would be now, which say nothing.
    """
    if study.choose is None:
        return basis
    blocks = study.choose.blocks
    all_kept = read_kept(name, study)
    kept = all_kept[all_kept["seed"].isin(basis.choosing)]
    _check_chosen_by(name, study, all_kept, kept, basis.choosing)

    def read(task: str, run_name: str) -> pd.DataFrame | None:
        runs = [Run(task, run_name, block, study=name) for block in blocks]
        is_of_now = not any(results_file(run) in otherwise for run in runs)
        return _read_blocks(runs, basis.choosing) if is_of_now else None

    def read_of_kept(task: str, run_name: str) -> pd.DataFrame | None:
        results = rows(kept, task=task, line=run_name)
        if results.empty:  # of a training that diverged, a row without a seed
            results = rows(all_kept[all_kept["seed"].isna()], task=task, line=run_name)
        return results if len(results) else None

    return basis.model_copy(update={"tried": choice_of(study, basis, read, read_of_kept)})


def _read_blocks(runs: Sequence[Run], seeds: Sequence[int]) -> pd.DataFrame | None:
    """Return the results of the blocks that choose; nothing where one has none, or not of all these seeds."""
    paths = [results_file(run) for run in runs]
    if not all(path.exists() and path.stat().st_size for path in paths):
        return None
    results = pd.concat(map(read_run, runs), ignore_index=True)
    notes: list[str] = [*results["note"].dropna()] if "note" in results else []
    for note in notes:
        if TOO_LARGE in note:  # which says nothing of the setting
            raise InputError(f"{paths[0].parent}: {runs[0].line}: {note}, here or in study.yaml; then delete its files")
    is_whole = set(results["seed"]) == set(seeds)
    return results if is_whole or notes else None


def _check_chosen_by(
    name: str, study: Study, kept: pd.DataFrame, choosing: pd.DataFrame, seeds: Collection[int]
) -> None:
    """Raise InputError for a kept line that has results on a task, but none of seeds that choose.

    Beside lines that are trained it must have all of them: each is chosen by the same seeds.
    """
    for task, line in product(study.tasks, study.kept.keys() & {*tuned_lines(study)} - study.lines.keys()):
        runs = run_names(study, line)
        has_any = rows(kept, task=task)["line"].isin(runs).any()
        of_task = rows(choosing, task=task)
        chosen_by = {*of_task[of_task["line"].isin(runs)]["seed"]}
        if has_any and not chosen_by:
            raise InputError(f"{kept_file(name)} has no seed of choose.blocks of line {line} on {task}")
        absent = {*seeds} - chosen_by if has_any and study.lines else set()
        if absent:
            said = f"{kept_file(name)} lacks {len(absent)} of the seeds of choose.blocks, {min(absent)} the first"
            raise InputError(f"{said}, of line {line} on {task}; all lines are chosen by the same")


def require_chosen(name: str, study: Study, tuned: Tuned) -> None:
    """Raise InputError where results say otherwise than the choice that the study was planned by, or not enough."""
    settings = [tried for lines in tuned.tried.values() for of_line in lines.values() for tried in of_line]
    if choose(name, study, tuned) != tuned or not all(tried.seeds for tried in settings):
        raise InputError(f"{choice_file(name)}: is not what results say now; go on by make study NAME={name}")
