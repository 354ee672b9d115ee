"""The plans of a study's lines: all that training and test read, so that they run again when that changes."""

import hashlib
import json
from collections.abc import Mapping
from itertools import product
from typing import Any

from vanishing_variance.engine.registry import why_plain
from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.params import check
from vanishing_variance.studies.line import LineRun, plan_file
from vanishing_variance.studies.parameters import (
    check_batch,
    check_pairs,
    check_tasks,
    held_out,
    line_params,
    longest_of_ranges,
    params_of_tables,
    runs_of,
)
from vanishing_variance.studies.sources import PACKAGE, hashes
from vanishing_variance.studies.study import of_study, read_study

# Not blocks: more of them train alone.
_OPTIONS = ("norm_options", "attention_options")
_WHOLE = ("norm", "attention", "seed", "seeds_per_block", "model", "training")


def write_plan(name: str) -> None:
    """Write `study_plan` for its stages. Raises InputError."""
    write_text(plan_file(name), written(study_plan(name), once=True))


def study_plan(name: str) -> dict[str, Any]:
    """Return the plans of a study's lines, a digest of each block's, and what compares the lines. Raises InputError.

    DVC reads `tasks` and `runs`, and not study.yaml: what is wrong there would end every command of DVC.
    """
    study = read_study(name)
    params = read_yaml(PATH)
    check(params)  # so that what is wrong there is not said of a line
    with of_study(name):
        resolved = {line: line_params(params, study, line) for line in study.names}
        check_pairs(study, resolved)
        of_all = next(iter(resolved.values()))  # what follows is the same for all lines
        test = held_out(of_all, study)
    check_tasks(study, resolved, test["lengths"])
    plans = {}
    digests: dict[str, dict[str, str]] = {"train": {}, "test": {}}
    for line, task in product(study.lines, study.tasks):
        range_ = study.range_of(line)
        plan = {
            "train": plan_of_training(resolved[line], task, range_),
            "test": plan_of_test(resolved[line], task, test, study.paper_tables),
        }
        plans[f"{task}-{line}"] = plan
        for block in resolved[line]["blocks"]:
            this = LineRun(task, range_, plan["train"]["norm"], block, plan["train"]["attention"], name, line)
            digests["train"][this.name] = digest(read_in_training(plan["train"]))
            digests["test"][this.name] = digest(plan["test"])
        with of_study(name):
            check_batch(resolved[line], this)
    compare = {"longest": longest_of_ranges(of_all, study), "sequences": test["sequences"]}
    if study.paper_tables:
        compare["params"] = params_of_tables(params, study)
    return {**digests, "compare": compare, "plans": plans, "runs": runs_of(study, resolved), "tasks": study.tasks}


def plan_of_training(params: Mapping[str, Any], task: str, range_: str) -> dict[str, Any]:
    """Return the part of a line's parameters that its training on a task reads, and the hashes of what it names."""
    own = params["tasks"][task]
    steps = {range_: own["steps"][range_]}
    task_file = f"tasks/{task}.py"
    files = hashes([f"attentions/{params['attention']}.py", f"norms/{params['norm']}.py", task_file])
    files.pop(task_file)  # stages declare it
    network = network_plan(params)
    if params["network"] == PAPER and why_plain(params, task):
        network["files"] = _plain_files(PAPER)
    return {
        **{key: params[key] for key in _WHOLE},
        **{key: params[key] for key in _OPTIONS if params.get(key)},
        **network,
        "tasks": {task: {**own, "steps": steps}},
        "ranges": {range_: params["ranges"][range_]},
        "files": files | network.get("files", {}),
    }


def read_in_training(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan of training without what its network does not read: of `model` others read `epsilon` alone."""
    if plan["network"] == PAPER:
        return dict(plan)
    training = {key: value for key, value in plan["training"].items() if key != "seeds_per_process"}
    return {**plan, "model": {"epsilon": plan["model"]["epsilon"]}, "training": training}


def network_plan(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the network, and but for the paper's its options and the hashes of what the plain engine reads."""
    network = params["network"]
    if network == PAPER:
        return {"network": PAPER}
    files = _plain_files(network)
    return {"network": network, "network_options": params["network_options"], "files": files}


def plan_of_test(
    params: Mapping[str, Any], task: str, test: Mapping[str, Any], paper_tables: bool = False
) -> dict[str, Any]:
    """Return what a line's test on a task reads beside its training's plan: `test`, the lengths, among it.

    `paper_tables`, where the inside of the models is wanted for them. That of several heads of the paper's network is
    measured by the plain engine.
    """
    if why_plain(params, task):
        return {"test": test}
    plan = {"test": test, "diagnostics": params["diagnostics"]}
    if paper_tables:
        plan["paper_tables"] = True
    if params["model"]["heads"] > 1:
        plan["files"] = _plain_files(PAPER)
    return plan


def digest(plan: Mapping[str, Any]) -> str:
    """Return a text that changes with a plan, which a line's stages declare to DVC, so that no other line's rerun."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:16]


def _plain_files(network: str) -> dict[str, str]:
    """Return the hashes of what the plain engine reads of a network."""
    networks = {"__init__", PAPER, network}  # it reads the paper's, too
    names = [f"networks/{name}.py" for name in sorted(networks)]
    names += sorted(f"plain/{path.name}" for path in (PACKAGE / "plain").glob("*.py"))
    return hashes(names)
