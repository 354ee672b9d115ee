"""Turn over a study of an earlier checkout, without training: `python -m vanishing_variance.studies.renew <name>`.

For a checkout whose CHANGELOG says that trainings have the same bits: the graph and the plan are written anew, and what
dvc.lock says of code and plans; weights and results stay. Refused where parameters of a line differ from its last plan;
a stage that has not run by that plan stays stale.
"""

from collections.abc import Mapping
from typing import Any

from dvc.repo import Repo

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.studies.choosing import read_choice
from vanishing_variance.studies.files import STUDIES, plan_file
from vanishing_variance.studies.new import filled
from vanishing_variance.studies.plan import PARTS, study_plan
from vanishing_variance.studies.study import read_study

# Of plans: hashes of code, which may have moved, and what plans of before had not.
NOT_COMPARED = ("files", "made_of", "measure")


def main() -> None:
    """Turn over the study that the argument names. Raises InputError."""
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    study = read_study(name)
    graph = STUDIES / name / "dvc.yaml"
    if not graph.exists():
        print(f"{name} has no graph, and nothing to turn over")
        return
    before = read_yaml(plan_file(name))
    params = read_yaml(PATH)
    plan = study_plan(name, study, params, read_choice(name, study, params))
    for line, own in before.get("plans", {}).items():
        _check_same(f"{plan_file(name)}: {line}", own, plan["plans"].get(line, {}))
    ran = _ran_by_plan(name, before)
    write_text(plan_file(name), written(plan, once=True))
    write_text(graph, filled(graph.name, name, tuned=bool(study.tune)))
    _renew_lock(str(graph), ran)
    print(f"{name} has the graph, the plan and the lock of this checkout; make study NAME={name} compares anew")


def _check_same(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise InputError where the plan of a line has other parameters than before."""
    for part in PARTS:
        if part in before and part in now:
            then, today = (_without_empty(plan[part]) for plan in (before, now))
            for key in (then.keys() | today.keys()) - {*NOT_COMPARED}:
                if key in ("diagnostics",) and key not in then:
                    continue  # which tests of the plain engine had not
                if then.get(key) != today.get(key):
                    raise InputError(f"{what}: {part} has another {key} than its results; put it back first")


def _without_empty(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if value != {}}


def _ran_by_plan(name: str, plan: Mapping[str, Any]) -> set[str]:
    """Return the names of the stages whose lock has the digests of this plan."""
    path = str(plan_file(name))
    locked = read_yaml(STUDIES / name / "dvc.lock").get("stages", {})
    ran = set()
    for stage, entry in locked.items():
        digests = entry.get("params", {}).get(path, {})
        by_key = [(*dotted.partition("."), digest) for dotted, digest in digests.items()]
        is_same = [plan.get(part, {}).get(key) == digest for part, dot, key, digest in by_key if dot]
        if is_same and all(is_same):  # not the plan and the board, which are written anew
            ran.add(stage)
    return ran


def _renew_lock(graph: str, ran: set[str]) -> None:
    """Write into the lock of a graph what these stages depend on now, and the outputs that git has."""
    with Repo() as repo, repo.lock:
        for stage in repo.index.stages:
            if stage.path_in_repo == graph and stage.name in ran:
                stage.save_deps(allow_missing=True)
                for out in stage.outs:
                    if not out.use_cache and out.exists:
                        out.save()
                stage.dump(update_pipeline=False)


if __name__ == "__main__":
    run_script(main)
