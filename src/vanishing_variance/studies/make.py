"""Plan a study, train what is missing, test and compare, by DVC: `make study NAME=<study>`.

A study whose lines are all kept trains nothing, and needs no graph: it is planned and compared. One that tunes its
lines is planned again when the settings have results, until each line has the one that is best.
"""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from vanishing_variance.engine.run import Run
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.results.columns import rows
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.choosing import basis_of_choice, choice_file, choose, write_choice
from vanishing_variance.studies.files import STUDIES, kept_file, plan_file, results_file
from vanishing_variance.studies.kept import read_kept, read_run
from vanishing_variance.studies.made_of import check_kept_made_of, check_made_of
from vanishing_variance.studies.new import filled
from vanishing_variance.studies.parameters import check_pairs, held_out, line_params, seeds_of
from vanishing_variance.studies.plan import check_lines, study_plan
from vanishing_variance.studies.reading import at_lengths, check_lengths, lengths_of_models
from vanishing_variance.studies.study import Study, of_study, read_study
from vanishing_variance.studies.tuning import Tuned, run_names, with_first

REPRO_WHOLE = ("--wait-for-lock", "repro", "--keep-going")
REPRO = (*REPRO_WHOLE, "--allow-missing")


def main() -> None:
    """Make the study that the argument names. Raises InputError."""
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    alone(name)
    params = read_yaml(PATH)
    study = read_study(name)
    check_lines(name, study, params)
    tuned = chosen_now(name, study, params, basis_of_choice(study, params))
    plan = prepared(name, study, params, tuned)
    first = tuned.model_copy(update={"tried": with_first(tuned.tried)})
    say_duration(Planned(name, study_plan(name, study, params, first)))
    while study.tune and plan["runs"]:
        say_choice(tuned)
        again = [f"{graph_file(name)}:train@{run.key}" for run in without_weights(Planned(name, plan))]
        if again:
            ran("dvc", *REPRO_WHOLE, *again)
        ran("dvc", *REPRO, f"{graph_file(name)}:test")
        chosen = chosen_now(name, study, params, tuned)
        if chosen == tuned:
            break
        tuned = chosen
        plan = prepared(name, study, params, tuned)
    command = ["dvc", *REPRO, str(graph_file(name))]
    if not graph_file(name).exists():
        print(f"{name} has no line to train: comparing the kept ones", flush=True)
        command = ["stages.compare", "--study", name]
    sys.exit(ran(*command))


def chosen_now(name: str, study: Study, params: Mapping[str, Any], basis: Tuned) -> Tuned:
    """Return the choice by the results of models that were trained as they would be now. Raises InputError."""
    tuned = choose(name, study, basis)
    if not study.tune:
        return tuned
    planned = Planned(name, study_plan(name, study, params, tuned))
    locked = locked_stages(name)
    runs = [run for run in planned.runs if not is_of_plan(locked.get(f"test@{run.key}", {}), run, planned)]
    otherwise = [results_file(run) for run in runs]
    return choose(name, study, tuned, otherwise)


def ran(*command: str) -> int:
    """Run a module with arguments, which has the lock of this process; return its exit code.

    What ends this process ends it, too: of itself DVC would go on with the next stage.
    """
    process = subprocess.Popen([sys.executable, "-m", *command], close_fds=False)

    def end(number: int, _: object) -> None:
        process.kill()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return process.wait()


def prepared(name: str, study: Study, params: Mapping[str, Any], tuned: Tuned) -> dict[str, Any]:
    """Write the choice, the plans and the graph of a study; return the plans. Raises InputError, and writes nothing."""
    plan = study_plan(name, study, params, tuned)
    check_kept(name, study, params, plan, tuned.choosing)
    graph = graph_file(name)
    if study.tune and (study.lines or graph.exists()):  # whose plan depends on it
        write_choice(name, tuned)
    else:
        choice_file(name).unlink(missing_ok=True)  # of lines that were tuned
    if plan["runs"] or graph.exists():
        write_text(plan_file(name), written(plan, once=True))
    else:
        plan_file(name).unlink(missing_ok=True)  # of lines that are kept now
    filled_graph = filled(graph.name, name, tuned=bool(study.tune))
    if plan["runs"] and not (graph.exists() and graph.read_text() == filled_graph):
        write_text(graph, filled_graph)
    empty_deleted(name, plan)
    return plan


def check_kept(
    name: str, study: Study, params: Mapping[str, Any], plan: Mapping[str, Any], choosing: Sequence[int]
) -> None:
    """Raise InputError for what would otherwise be said after hours of training.

    Where a seed that is kept would be trained, a seed that chooses is tested, too, lines would be tested at other
    lengths, a pair has no common seed, or a kept line was trained otherwise than its parameters are now.
    """
    kept = read_kept(name, study)
    planned = Planned(name, dict(plan))
    made_of = []
    for key in plan["runs"]:
        run, training = planned.run(key), planned.params(key, "train")
        block = seeds(run.block, training["seeds_per_block"])
        again = rows(kept, task=run.task, line=run.line)["seed"]
        for seed in again[again.isin(block)]:
            said = f"{kept_file(name)} has seed {seed} of line {run.line}, as its blocks have"
            raise InputError(f"{said}; change its blocks")
        of_run = planned.params(key, "test")["made_of"]
        made_of.append({"task": run.task, "line": run.line, "seed": block[0], **of_run})
    with of_study(name):
        of_lines = {line: seeds_of(line_params(params, study, line)) for line in study.lines}
        _check_fresh(study, params)
        for task in study.tasks:
            check_pairs(study, dict(_seeds(study, task, kept, of_lines)), f" on {task}")
    _check_all_compared(name, study, kept, choosing)
    check_made_of(f"{STUDIES / name}/results", pd.concat([kept, pd.DataFrame(made_of)]))
    check_kept_made_of(kept_file(name), kept, plan["compare"].get("kept", {}))
    compared = kept[~kept["seed"].isin(choosing)]  # those that choose may have training lengths alone
    if study.lines and len(compared):
        lengths = held_out(line_params(params, study, study.names[0]), study)["lengths"]
        check_lengths(name, {"what is trained": lengths} | lengths_of_models(at_lengths(compared, study)))


def _check_all_compared(name: str, study: Study, kept: pd.DataFrame, choosing: Sequence[int]) -> None:
    """Raise InputError where seeds that are kept of a tuned line would neither choose nor be compared."""
    testing = kept[~kept["seed"].isin(choosing)]
    for line in filter(study.grid, study.lines.keys() - study.kept.keys()):
        unread = testing["seed"][testing["line"].isin(run_names(study, line))].dropna()
        if len(unread):
            said = f"{kept_file(name)} has seeds from {unread.min():.0f} of line {line}, which is in lines alone"
            raise InputError(f"{said}; name it in kept, too, and they are compared")


def _check_fresh(study: Study, params: Mapping[str, Any]) -> None:
    """Raise InputError where a seed that chooses a setting is one that tests it."""
    choosing = study.choose.blocks if study.choose else []
    for line in filter(study.grid, study.lines):
        testing = line_params(params, study, line)["blocks"]
        both = sorted({*testing} & {*choosing})
        if both:
            raise InputError(f"line {line} has block {both[0]}, which is in choose.blocks, too; change one of them")


def _seeds(
    study: Study, task: str, kept: pd.DataFrame, trained: Mapping[str, set[int]]
) -> Iterator[tuple[str, set[int]]]:
    """Yield each line and the seeds that it has, or will have, on a task."""
    for line in study.names:
        of_kept = kept[(kept["task"] == task) & kept["line"].isin(run_names(study, line))]
        yield line, {*of_kept["seed"].dropna()} | trained.get(line, set())


def without_weights(planned: Planned) -> list[Run]:
    """Return the runs that are to be tested at more lengths than they were, and whose weights this machine lacks."""
    runs = []
    for run in planned.runs:
        path = results_file(run)
        if path.exists() and path.stat().st_size and not run.folder("trained").exists():
            tested = {*read_run(run)["length"].dropna()}
            wanted = {*planned.params(run.key, "test")["test"]["lengths"]}
            if tested and not wanted <= tested:  # one that diverged has none
                runs.append(run)
    return runs


def say_duration(planned: Planned) -> None:
    """Print about how long what is missing trains."""
    missing = {run.key: run for run in [*untrained(planned), *without_weights(planned)]}
    if missing:
        duration = import_module("vanishing_variance.studies.duration")  # here: it loads torch
        minutes = duration.seconds_of(planned, missing.values()) / 60
        if minutes:
            grows = " and what grids grow by" if "tuned" in planned.document["compare"] else ""
            print(f"training takes about {minutes:.0f} minutes on this machine; tests{grows} come to that", flush=True)


def untrained(planned: Planned) -> list[Run]:
    """Return the runs that were not trained by their plan, as dvc.lock says, or have neither weights nor results."""
    locked = locked_stages(planned.study)
    runs = []
    for run in planned.runs:
        is_there = run.folder("trained").exists() or results_file(run).exists()
        if not is_there or not is_of_plan(locked.get(f"train@{run.key}", {}), run, planned):
            runs.append(run)
    return runs


def locked_stages(study: str) -> dict[str, Any]:
    """Return what dvc.lock of a study has of each stage."""
    lock = STUDIES / study / "dvc.lock"
    return dict(read_yaml(lock).get("stages", {})) if lock.exists() else {}


def is_of_plan(stage: Mapping[str, Any], run: Run, planned: Planned) -> bool:
    """Return whether a stage of a run ran with the training that is planned now."""
    params = stage.get("params", {}).get(str(plan_file(planned.study)), {})
    return bool(params.get(f"train.{run.key}") == planned.document["train"][run.key])


def say_choice(tuned: Tuned) -> None:
    """Print how far the choice is: of each task the settings that were tried, and what was chosen."""
    for task, lines in tuned.tried.items():
        settings = [tried for of_line in lines.values() for tried in of_line]
        done = sum(tried.seeds > 0 for tried in settings)
        chosen = ", ".join(tried.name for tried in settings if tried.chosen)
        print(f"{task}: {done} of {len(settings)} settings tried; chosen: {chosen or 'none yet'}", flush=True)


def graph_file(study: str) -> Path:
    """Return the path of the graph of a study."""
    return STUDIES / study / "dvc.yaml"


def empty_deleted(study: str, plan: Mapping[str, Iterable[str]]) -> None:
    """Put an empty file where one that a stage wrote was deleted, for DVC passes over a missing one."""
    locked = locked_stages(study)
    files = [("compare", name) for name in ("board.csv", "board.md")]
    files += [(f"test@{run}", f"results/{run}.csv") for run in plan["runs"]]
    for kind, part in (("interventions", "intervened"), ("proposition", "proposed")):
        files += [(f"{kind}@{run}", f"results/{kind}-{run}.csv") for run in plan[part]]
    for stage, name in files:
        path = STUDIES / study / name
        if stage in locked and not path.exists():
            write_text(path, "")


def alone(study: str) -> None:
    """Lock a study's folder for this process, and for DVC after it, which would lock new plans beside old weights.

    Raises InputError where there is no such study, or another process has it.
    """
    read_study(study)
    folder = os.open(STUDIES / study, os.O_RDONLY)
    os.set_inheritable(folder, True)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"study {study} is being made by another process; wait for it, or stop it") from None


if __name__ == "__main__":
    try:
        run_script(main)
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from here", file=sys.stderr)
        sys.exit(130)
