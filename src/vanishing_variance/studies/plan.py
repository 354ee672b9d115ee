"""The plans of a study's runs: all that training, tests and measurements read; they run again when it changes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from vanishing_variance.engine.registry import is_plain, load_task, softmax_names
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.task import Task
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import flattened, read_yaml, written
from vanishing_variance.params import check
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.choosing import read_choice
from vanishing_variance.studies.files import PACKAGE, STUDIES, plan_file
from vanishing_variance.studies.made_of import digest, made_of
from vanishing_variance.studies.parameters import (
    check_base,
    check_batch,
    check_pairs,
    check_tasks,
    held_out,
    line_params,
    longest_of_ranges,
    params_of_tables,
    seeds_of,
)
from vanishing_variance.studies.sources import hashes
from vanishing_variance.studies.study import Study, of_study, read_study
from vanishing_variance.studies.tuning import Tuned, combinations, run_name, settings_of, trained

# Not blocks: more of them train alone.
WHOLE = ("norm", "attention", "network", "seed", "seeds_per_block", "model", "training")
OPTIONS = ("norm_options", "attention_options", "network_options")
# Of the plan of a run; its other stages read that of the training, too.
PARTS = ("train", "test", "interventions", "proposition")
# The keys of runs by task, line and block.
Runs = Mapping[tuple[str, str, int], str]


def read_plan(name: str) -> Planned:
    """Return the plans of a study as its file has them, or as they are where no line is trained, and no file needed."""
    if not name or (STUDIES / name / "dvc.yaml").exists():
        return Planned(name, read_yaml(plan_file(name)))
    study, params = read_study(name), read_yaml(PATH)
    check(params)
    return Planned(name, study_plan(name, study, params, read_choice(name, study, params)))


def write_plan(name: str) -> None:
    """Write `study_plan` of a study of studies/ for its stages. Raises InputError."""
    study = read_study(name)
    params = read_yaml(PATH)
    check_lines(name, study, params)
    plan = study_plan(name, study, params, read_choice(name, study, params))
    write_text(plan_file(name), written(plan, once=True))


def check_lines(name: str, study: Study, params: Mapping[str, Any]) -> None:
    """Raise InputError for what is wrong in params.yaml, and then in a line."""
    check(params)  # so that what is wrong there is not said of a line
    with of_study(name):
        if study.choose:
            line_params(params, study, study.names[0], {"blocks": study.choose.blocks})
        for line in study.names:
            part = line_params(params, study, line)["training"]["averaged_part"]
            if study.grid(line) and "averaged" in study.weights(line) and not part:
                raise InputError(f"line {line}: training.averaged_part is {part}; no averaged weights can be chosen")


def study_plan(name: str, study: Study, params: Mapping[str, Any], tuned: Tuned | None = None) -> dict[str, Any]:
    """Return the plans of a study's runs, a digest of each part of each, and what compares the lines.

    `tuned`: the settings of its lines. DVC reads `runs`, and not study.yaml: what is wrong there would end every
    command of DVC. Raises InputError.
    """
    with of_study(name):
        resolved = {line: line_params(params, study, line) for line in study.names}
        check_base(study, dict.fromkeys(of_line["network"] for of_line in resolved.values()))
        check_pairs(study, {line: seeds_of(resolved[line]) for line in study.lines.keys() - study.kept.keys()})
        of_all = next(iter(resolved.values()))  # what follows is the same for all lines
        test = held_out(of_all, study)
        longest = longest_of_ranges(of_all, study)
    check_tasks(study, resolved, test["lengths"])
    blocks = {line: of_line["blocks"] for line, of_line in resolved.items()}
    plans: dict[str, dict[str, Any]] = {}
    digests: dict[str, dict[str, str]] = {part: {} for part in PARTS}
    keys: dict[str, dict[str, str]] = {}
    runs: dict[tuple[str, str, int], str] = {}
    for task, line, run_line, setting, own_blocks, at_length in trained(study, tuned or Tuned(), blocks):
        range_ = study.range_of(line)
        with of_study(name):
            own = line_params(params, study, line, setting)
        this = Run(task, run_line, own_blocks[0], range_, own["norm"], own["attention"], name)
        tested = test if at_length else of_training(test, longest[range_])
        plan = {
            "task": task,
            "line": run_line,
            "train": plan_of_training(own, task, range_),
            "test": plan_of_test(own, task, tested, study),
            **plans_of_measurements(own, task, test, study),
        }
        plan["test"]["made_of"] = made_of(read_in_training(plan["train"]), test["sequences"])
        plans[this.key.rpartition("-")[0]] = plan
        for block in own_blocks:
            run = replace(this, block=block)
            keys[run.key] = {"task": task}
            for own_line in _lines_of(run, study, blocks, tuned or Tuned()):
                runs[task, own_line, block] = run.key
            for part in PARTS:
                read = read_in_training(plan["train"]) if part == "train" else plan.get(part)
                if read or not name:  # the graph of params.yaml has all stages for each run
                    digests[part][run.key] = digest(read or {})
        with of_study(name):
            check_batch(own, this)
    compare = {"longest": longest, "sequences": test["sequences"]}
    with of_study(name):
        if study.kept:
            compare["kept"] = _made_of_kept(study, params, test["sequences"])
        intervened = dict(_intervened(study, runs, plans))
    if study.paper_tables:
        compare["params"] = params_of_tables(params, study)
    if tuned and tuned.tried:
        compare["tuned"] = tuned.model_dump(exclude_defaults=True)
    return {
        **digests,
        "compare": compare,
        "plans": plans,
        "runs": keys,
        "intervened": intervened,
        "proposed": dict(_proposed(study, runs, plans)),
    }


def _made_of_kept(study: Study, params: Mapping[str, Any], sequences: int) -> dict[str, dict[str, Any]]:
    """Return by task and name of runs what kept results are made of, if they were made as their line is now."""
    found: dict[str, dict[str, Any]] = {}
    for task, line in product(study.tasks, study.kept):
        grid = study.grid(line)
        for setting in settings_of(study, line):
            try:
                own = line_params(params, study, line, setting)
            except InputError:
                if setting in combinations(grid):
                    raise
                continue  # by which no grid may grow
            training = read_in_training(params_of_training(own, task, study.range_of(line)))
            run = run_name(study, line, setting) if grid else line
            found.setdefault(task, {})[run] = made_of(training, sequences)
    return found


def _lines_of(run: Run, study: Study, blocks: Mapping[str, list[int]], tuned: Tuned) -> Iterator[str]:
    """Yield the lines that are compared by a run: at their chosen settings, and not by seeds that choose."""
    for line in blocks:
        chosen = tuned.chosen(run.task, line)
        is_of_line = chosen is not None and run.line == chosen.name if study.grid(line) else run.line == line
        if is_of_line and run.block in blocks[line]:
            yield line


def _intervened(study: Study, runs: Runs, plans: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the key of each run in which one thing is set, its task, and the key of its partner's run.

    Of models of the fast engine, whose partner has the same seeds. Raises InputError.
    """
    partners: dict[str, str | None] = {}
    for (task, line, block), key in runs.items():
        other = runs.get((task, study.partner(line) or "", block))
        pair = [plans.get(run.rpartition("-")[0], {}) for run in (key, other or "")]
        if not all("interventions" in plan for plan in pair):
            continue
        for key_of_both in ("seeds_per_block", "model.heads"):
            ours, theirs = (flattened(plan["train"])[key_of_both] for plan in pair)
            if ours != theirs:
                partner = f"{pair[1]['line']}, with which it is paired, {theirs}"
                raise InputError(f"line {line} has {key_of_both} {ours}, and {partner}; interventions need the same")
        if partners.setdefault(key, other) != other:
            both = f"{partners[key]} and {other}"
            said = f"line {line} shares run {key} with another line, and they are paired with {both}"
            raise InputError(f"{said}; interventions need one partner: compare both with one line")
        yield key, {"task": task, "partner": other}


def _proposed(study: Study, runs: Runs, plans: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the key and task of the first run of each line of the first line's range, in which Proposition 1 is."""
    seen = set()
    for (task, line, _), key in runs.items():
        has_plan = "proposition" in plans[key.rpartition("-")[0]]
        if has_plan and (task, line) not in seen and study.range_of(line) == study.range_of(study.names[0]):
            seen.add((task, line))
            yield key, {"task": task}


def plan_of_training(params: Mapping[str, Any], task: str, range_: str) -> dict[str, Any]:
    """Return the part of a line's parameters that its training on a task reads, and the hashes of what it names."""
    task_file = f"tasks/{task}.py"
    chosen = [f"attentions/{params['attention']}.py", f"norms/{params['norm']}.py", task_file]
    if is_plain(params, task):
        chosen += _plain_files(params["network"])
    files = hashes(chosen)
    files.pop(task_file)  # stages declare it
    return {**params_of_training(params, task, range_), "files": files}


def params_of_training(params: Mapping[str, Any], task: str, range_: str) -> dict[str, Any]:
    """Return the part of a line's parameters that its training on a task reads."""
    own = params["tasks"][task]
    steps = {range_: own["steps"][range_]}
    return {
        **{key: params[key] for key in WHOLE},
        **{key: params[key] for key in OPTIONS if params.get(key)},
        "tasks": {task: {**own, "steps": steps}},
        "ranges": {range_: params["ranges"][range_]},
    }


def read_in_training(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan of training without what its engine and network do not read: of `model` others read `epsilon`."""
    read = dict(plan)
    (task,) = plan["tasks"]
    if is_plain(plan, task):
        read["training"] = {key: value for key, value in plan["training"].items() if key != "seeds_per_process"}
    if plan["network"] != PAPER:
        read["model"] = {"epsilon": plan["model"]["epsilon"]}
    return read


def of_training(test: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """Return the section `test` with its training lengths alone, or else the shortest."""
    lengths = [length for length in test["lengths"] if length <= longest]
    return {**test, "lengths": lengths or test["lengths"][:1]}


def plan_of_test(params: Mapping[str, Any], task: str, test: Mapping[str, Any], study: Study) -> dict[str, Any]:
    """Return what a line's test on a task reads beside its training's plan: `test`, the lengths, among it.

    The inside of several heads of the paper's network is measured by the plain engine.
    """
    plan = {"test": test, "diagnostics": params["diagnostics"], "measure": study.measured}
    if not is_plain(params, task) and params["model"]["heads"] > 1:
        plan["files"] = hashes(_plain_files(PAPER))
    return plan


def plans_of_measurements(
    params: Mapping[str, Any], task: str, test: Mapping[str, Any], study: Study
) -> dict[str, Any]:
    """Return what interventions and Proposition 1 read beside the training's plan.

    They are of models of the fast engine, whose attention map is a softmax.
    """
    if is_plain(params, task) or params["attention"] not in softmax_names():
        return {}
    plans = {}
    if "interventions" in study.measured:
        plans["interventions"] = {"test": test, "interventions": params["interventions"]}
    if "proposition" in study.measured and load_task(task).sample_iid is not Task.sample_iid:
        measured = params["proposition"]
        plans["proposition"] = {"proposition": {key: measured[key] for key in ("lengths", "sequences")}}
    return plans


def _plain_files(network: str) -> list[str]:
    """Return what the plain engine reads of a network: the paper's, too."""
    names = [f"networks/{name}.py" for name in sorted({"__init__", PAPER, network})]
    return names + sorted(f"plain/{path.name}" for path in (PACKAGE / "plain").glob("*.py"))
