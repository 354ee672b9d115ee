"""The results of all lines of a study, as their tests wrote them (`studies.results`)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import pandas as pd

from vanishing_variance.engine.run import Run
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.columns import LAST, MODEL, OUTPUTS, WEIGHTS, rows
from vanishing_variance.studies.checked import check_once, check_results
from vanishing_variance.studies.files import STUDIES, kept_file, results_file
from vanishing_variance.studies.made_of import check_made_of, made_of
from vanishing_variance.studies.parameters import held_out, line_params, runs_of, seeds_of, unchecked_params
from vanishing_variance.studies.plan import params_of_training, read_in_training
from vanishing_variance.studies.results import INSIDE
from vanishing_variance.studies.study import Study, of_study, read_study


def read_kept(name: str, study: Study) -> pd.DataFrame:
    """Return the results of the seeds that are kept; none where a study has no such file.

    Raises InputError for a line or task that study.yaml does not name, a line of `kept` without a seed, and whatever
    `check_results` refuses.
    """
    path = kept_file(name)
    kept = pd.DataFrame(columns=[*MODEL, "length"])
    if path.exists():
        inside = [*WEIGHTS, "variance", *OUTPUTS[1:]] if study.paper_tables else []
        kept = read_csv(path, *MODEL, "length", LAST, *inside)
        check_results(path, kept)
    for column, known in (("task", study.tasks), ("line", study.names)):
        for unknown in kept[column][~kept[column].isin(known)]:
            raise InputError(f"{path}: {column} is {shown(unknown)}; study.yaml has {', '.join(known)}")
    for line in study.kept.keys() - set(kept["line"]):
        raise InputError(f"{STUDIES / name}/study.yaml: kept has {line}, of which {path} has no seeds")
    return kept


def check_kept(name: str, params: Mapping[str, Any]) -> None:
    """Raise InputError for what would otherwise be said after hours of training.

    Where a seed that is kept would be trained, lines would be tested at other lengths, or a pair has no common seed.
    """
    study = read_study(name)
    kept = read_kept(name, study)
    trained = {line: seeds_of(line_params(params, study, line)) for line in study.lines}
    for line in study.lines.keys() & study.kept.keys():
        again = trained[line] & set(rows(kept, line=line)["seed"])
        if again:
            path = kept_file(name)
            raise InputError(f"{path} has seed {min(again)} of line {line}, as its blocks have; change its blocks")
    for task in study.tasks:
        seeds = {line: set(rows(kept, task=task, line=line)["seed"].dropna()) for line in study.kept}
        for line in study.lines:
            seeds[line] = seeds.get(line, set()) | trained[line]
        with of_study(name):
            _check_pairs(study, task, seeds)
    check_made_of(f"{STUDIES / name}/results", pd.concat([kept, *_planned(name, study, params)]))
    if study.lines and len(kept):
        planned = held_out(params, study)["lengths"]
        _check_lengths(name, {"what is trained": planned} | _lengths_of_models(_at_lengths(kept, study)))


def _planned(name: str, study: Study, params: Mapping[str, Any]) -> Iterator[pd.DataFrame]:
    """Yield a row of what each run will be made of."""
    resolved = {line: line_params(params, study, line) for line in study.lines}
    sequences = held_out(params, study)["sequences"] if study.lines else 0
    for run in runs_of(name, study, resolved):
        trained = read_in_training(params_of_training(resolved[run.line], run.task, run.range))
        first = run.block * resolved[run.line]["seeds_per_block"]
        yield pd.DataFrame([{"task": run.task, "line": run.line, "seed": first, **made_of(trained, sequences)}])


def _check_pairs(study: Study, task: str, seeds: Mapping[str, set[int]]) -> None:
    """Raise InputError where a pair has no common seed; a kept line may have no results on a task."""
    for line, baseline in study.pairs:
        ours, theirs = seeds[line], seeds[baseline]
        if ours.isdisjoint(theirs) and (line in study.lines or (ours and theirs)):
            there = f"seeds from {min(theirs):.0f} to {max(theirs):.0f}" if theirs else "none"
            said = f"{line} is compared with {baseline}, and has no seed of it on {task}"
            raise InputError(f"{said}: that has {there}; change their blocks, or compare")


def read_results(name: str, study: Study, runs: Sequence[Run]) -> pd.DataFrame:
    """Return the results of all lines in the order of the study, with columns task and line.

    `runs`: those that are trained. Raises InputError where one, or a line that is kept, has no results.
    """
    kept = read_kept(name, study)
    frames = []
    for task, line in product(study.tasks, study.names):
        if line in study.kept:
            frames.append(rows(kept, task=task, line=line))
        for run in (run for run in runs if (run.task, run.line) == (task, line)):
            path = results_file(run)
            tested = read_csv(path).assign(task=task, line=line)
            tested = tested.reindex(columns=list(dict.fromkeys([*MODEL, "length", LAST, *tested])))
            check_results(path, tested)
            frames.append(tested)
    found = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    found = found.reindex(columns=list(dict.fromkeys([*MODEL, "length", *INSIDE, "note", *found])))
    where = f"{STUDIES / name}/results" if name else "runs/tested"
    check_once(where, found)
    check_made_of(where, found)
    found = _at_lengths(found, study)
    _check_lengths(name, _lengths_of_models(found))
    return found


def _at_lengths(results: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the results at the lengths of a study: kept ones may have more."""
    if not study.lengths:
        return results
    return results[results["length"].isin([0, *study.lengths]) | results["length"].isna()]


def _lengths_of_models(results: pd.DataFrame) -> dict[str, list[int]]:
    """Return the lengths at which models were tested, by what says whose they are."""
    tested = results[results["length"] > 0]
    by_model = {}
    for (task, line, seed), lengths in tested.groupby(MODEL)["length"]:
        by_model[f"line {line}, seed {seed} on {task}"] = sorted(map(int, lengths))
    return by_model


def _check_lengths(name: str, lengths: Mapping[str, list[int]]) -> None:
    """Raise InputError where models were tested at different lengths; `lengths`: by what has them."""
    for one, other in pairwise(lengths):
        if lengths[one] != lengths[other]:
            said = f"{STUDIES / name}: {one} is tested at {lengths[one]}, and {other} at {lengths[other]}"
            raise InputError(f"{said}; set lengths in study.yaml to those that both have")


def read_all(name: str, params: Mapping[str, Any]) -> tuple[Study, pd.DataFrame]:
    """Return a study and its results, of the blocks that it has by params.yaml. Raises InputError."""
    study = read_study(name)
    resolved = {line: unchecked_params(params, study, line) for line in study.names}
    return study, read_results(name, study, runs_of(name, study, resolved))
