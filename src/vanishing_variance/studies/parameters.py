"""The parameters of a study's lines: params.yaml, with what the study and the line change."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from typing import Annotated, Any

from pydantic import BeforeValidator

from vanishing_variance.engine import registry
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import flattened
from vanishing_variance.measure.held_out import Test
from vanishing_variance.params import Params, changed, check, check_read, takes_attention, with_tasks
from vanishing_variance.studies.study import Study, named_file
from vanishing_variance.task_check import check_task, reads_order

# What a line may change of params.yaml, sections and single keys; tests are the same for all lines.
TRAINED = (
    *("norm", "attention", "network", "network_options", "norm_options", "attention_options"),
    *("blocks", "seeds_per_block", "tasks", "ranges", "model", "training"),
)
# What all lines share, so that they can be compared.
OF_ALL = re.compile(r"ranges\.\w+\.(shortest|longest)|tasks\.\w+\.data(\..*)?")
# The treatment that the paper compares with none.
PAPERS_NORM = "ln"
_OF_TABLES = ("seed", "ranges", "tasks", "attention", "network", "network_options", "model", "training")


class LineParams(Params):
    """All parameters of a line, which may have any normaliser, or none, and any attention map."""

    norm: Annotated[str, BeforeValidator(partial(named_file, folder="norms"))]
    attention: Annotated[str, BeforeValidator(partial(named_file, folder="attentions"))]


def held_out(params: Mapping[str, Any], study: Study) -> dict[str, Any]:
    """Return the section `test` of all lines. Raises InputError where params.yaml has not what the study asks for."""
    test: Test = get_param(params, "test", Test)
    lengths = study.lengths or test.lengths
    sequences = study.sequences or test.sequences
    if not set(lengths) <= set(test.lengths):
        raise InputError(f"lengths is {shown(lengths)}; choose from test.lengths: {', '.join(map(str, test.lengths))}")
    if study.lines and sequences != test.sequences:
        said = f"sequences is {sequences}, and lines are tested on test.sequences, {test.sequences}"
        raise InputError(f"{said}: set that to {sequences} in {PATH}")
    for longest in longest_of_ranges(params, study).values():
        if (study.lengths or study.tune) and not lengths[0] <= longest < lengths[-1]:
            where = "lengths" if study.lengths else f"{PATH}: test.lengths"
            raise InputError(f"{where} is {shown(lengths)}; must have one up to {longest}, of training, and one above")
        if lengths[-1] <= longest:
            raise InputError(f"{PATH}: test.lengths has none above {longest}, the longest in training")
    return {"lengths": lengths, "sequences": sequences}


def params_of_tables(params: Mapping[str, Any], study: Study) -> dict[str, Any]:
    """Return of params.yaml what the paper's tables are of, as if the study were the whole."""
    resolved = unchecked_params(params, study, study.names[0])
    ranges = dict.fromkeys(map(study.range_of, study.names))
    return {
        **{key: resolved[key] for key in _OF_TABLES},
        "norm": PAPERS_NORM,
        "train_on": list(ranges),
        "test": {"sequences": study.sequences or params["test"]["sequences"]},
    }


def longest_of_ranges(params: Mapping[str, Any], study: Study) -> dict[str, int]:
    """Return the longest training length by range, of those that lines are trained on."""
    ranges = dict.fromkeys(map(study.range_of, study.names))
    return {range_: get_param(params, f"ranges.{range_}", Range).longest for range_ in ranges}


def line_params(
    params: Mapping[str, Any], study: Study, line: str, setting: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return params.yaml with what the study, its line and a setting change. Raises InputError, which names the line.

    A line that is tuned has its first setting where none is named.
    """
    params = with_tasks(params, study.tasks)
    if setting is None:
        setting = {key: values[0] for key, values in study.grid(line).items()}
    own = flattened(study.own(line)) | dict(setting)
    try:
        for key in filter(OF_ALL.fullmatch, own):
            raise InputError(f"{key} cannot differ between lines, which are compared; set it in base")
        resolved = _merged(params, flattened(study.base) | own)
        check(resolved, LineParams)
        if resolved["network"] != PAPER:
            check_read(resolved["network"], own)
        for key in sorted(own.keys() - flattened(study.tune)):
            _check_trained(key, own, study.range_of(line), study.tasks)
    except InputError as problem:
        raise InputError(f"line {line}: {str(problem).removeprefix(f'{PATH}: ')}") from None
    return resolved


def unchecked_params(params: Mapping[str, Any], study: Study, line: str) -> dict[str, Any]:
    """Return the same of a line whose results are there: other keys of params.yaml may not fit it any more."""
    return _merged(with_tasks(params, study.tasks), flattened(study.base) | flattened(study.own(line)))


def _merged(params: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return params.yaml with changes by dotted key. Raises InputError."""
    changes = {key: value for key, value in changes.items() if value != {} or not _is_section(params, key)}
    if not takes_attention(changes.get("network", params.get("network", PAPER))):
        changes["attention"] = "softmax"  # that of the base and params.yaml is other lines'
    params = {"norm_options": {}, "attention_options": {}, **params}  # of files from before they were there
    for choice in ("norm", "attention", "network"):
        prefix = f"{choice}_options."
        options = {key.removeprefix(prefix): changes.pop(key) for key in list(changes) if key.startswith(prefix)}
        if options or choice in changes:  # those of params.yaml may be another choice's
            changes = {f"{choice}_options": options} | changes
    for key in changes:
        if key == "seed":
            raise InputError(f"seed cannot differ; it decides the test sequences, which are those of {PATH}")
        if key.split(".")[0] not in TRAINED:
            raise InputError(f"{key} is {shown(changes[key])}; a line can change {', '.join(TRAINED)}")
    return changed(params, changes)


def _is_section(params: Mapping[str, Any], key: str) -> bool:
    """Return whether params.yaml has a section at a dotted key, which an empty one leaves as it is."""
    section: Any = params
    for name in key.split("."):
        section = section.get(name) if isinstance(section, Mapping) else None
    return isinstance(section, Mapping)


def check_pairs(study: Study, seeds_of_lines: Mapping[str, set[int]], on: str = "") -> None:
    """Raise InputError where a pair whose seeds are known shares none; a kept line may have none on a task."""
    for line, baseline in study.pairs:
        ours, theirs = (seeds_of_lines.get(name) for name in (line, baseline))
        if ours is None or theirs is None or not ours.isdisjoint(theirs):
            continue
        if line in study.lines or (ours and theirs):
            there = f"seeds from {min(theirs):.0f} to {max(theirs):.0f}" if theirs else "none"
            said = f"{line} is compared with {baseline}, and has no seed of it{on}"
            raise InputError(f"{said}: that has {there}; change their blocks, or compare")


def seeds_of(params: Mapping[str, Any]) -> set[int]:
    """Return the seeds of all blocks of a line."""
    return {seed for block in params["blocks"] for seed in seeds(block, params["seeds_per_block"])}


def check_tasks(study: Study, resolved: Mapping[str, Mapping[str, Any]], tested: Sequence[int]) -> None:
    """Raise InputError for a task that is wrong; `resolved`: the parameters by line."""
    of_all = next(iter(resolved.values()))
    in_order = all(reads_order(params["network"], params["attention"]) for params in resolved.values())
    ranges = dict.fromkeys(map(study.range_of, study.names))
    for name, range_ in product(study.tasks, ranges):
        task = registry.task_of(of_all, name)
        check_task(task, name, get_param(of_all, f"ranges.{range_}", Range), tested, in_order=in_order)


def check_batch(params: Mapping[str, Any], this: Run) -> None:
    """Raise InputError, which names the line, where a network that the plain engine trains does not take a batch."""
    if not registry.is_plain(params, this.task):
        return
    engines = import_module("vanishing_variance.engines")  # torch's seconds
    try:
        engines.check(engines.plan_of(params, this), 0)
    except InputError as problem:
        raise InputError(f"line {this.line}: {problem}") from None


def check_base(study: Study, networks: Collection[str]) -> None:
    """Raise InputError where `base` has a key that none of the lines' networks reads."""
    for key in flattened(study.base):
        if key.startswith("model.") and key != "model.epsilon" and PAPER not in networks:
            raise InputError(f"base has {key}, which {' and '.join(networks)} does not read; see network_options")


def _check_trained(key: str, own: Iterable[str], range_: str, tasks: Sequence[str]) -> None:
    """Raise InputError where a line's own key is of another task or range than those that it is trained on.

    It may be, where the line has that of its own range, too.
    """
    section, *rest = key.split(".")
    if section == "tasks" and rest[:1] and rest[0] not in tasks:
        raise InputError(f"{key} is of another task than {', '.join(tasks)}")
    of_range = rest[:1] if section == "ranges" else rest[2:] if rest[1:2] == ["steps"] else []
    before = key.partition(f".{of_range[0]}")[0] if of_range else ""
    if of_range and of_range[0] != range_ and not any(f"{other}.".startswith(f"{before}.{range_}.") for other in own):
        raise InputError(f"{key} is of another range than {range_}, on which it is trained")
