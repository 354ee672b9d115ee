"""Plan a study, train what is missing, test and compare, by DVC: `make study NAME=<study>`.

A study whose lines are all kept trains nothing, and needs no graph: it is planned and compared.
"""

import fcntl
import os
import sys
from collections.abc import Iterable

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.params import check
from vanishing_variance.studies.files import STUDIES, plan_file
from vanishing_variance.studies.new import filled
from vanishing_variance.studies.plan import study_plan
from vanishing_variance.studies.reading import check_kept
from vanishing_variance.studies.study import read_study

REPRO = ("--wait-for-lock", "repro", "--keep-going", "--allow-missing")


def main() -> None:
    """Make the study that the argument names. Raises InputError."""
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    alone(name)
    params = read_yaml(PATH)
    check(params)
    plan = study_plan(name, read_study(name), params)
    check_kept(name, params)
    graph = STUDIES / name / "dvc.yaml"
    if plan["runs"] or graph.exists():
        write_text(plan_file(name), written(plan, once=True))
    else:
        plan_file(name).unlink(missing_ok=True)  # of lines that are kept now
    if plan["runs"] and not graph.exists():
        write_text(graph, filled(graph.name, name))
    empty_deleted(name, plan["test"])
    command = ["dvc", *REPRO, str(graph)]
    if not graph.exists():
        print(f"{name} has no line to train: comparing the kept ones", flush=True)
        command = ["stages.compare", "--study", name]
    os.execv(sys.executable, [sys.executable, "-m", *command])  # noqa: S606  which keeps the lock


def empty_deleted(study: str, runs: Iterable[str]) -> None:
    """Put an empty file where the results of a test were deleted, for DVC passes over a missing one."""
    lock = STUDIES / study / "dvc.lock"
    locked = read_yaml(lock).get("stages", {}) if lock.exists() else {}
    for run in runs:
        path = STUDIES / study / "results" / f"{run}.csv"
        if f"test@{run}" in locked and not path.exists():
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
    run_script(main)
