"""A study: its question, the parameters of its lines, and which lines are compared (`studies/<name>/study.yaml`)."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from vanishing_variance.engine import registry
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.run import PAPER
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.sections import PATH, Lengths, Section, Several, different, explained, get_param
from vanishing_variance.harness.yaml import flattened, read_yaml
from vanishing_variance.measure.held_out import Test
from vanishing_variance.params import Params, check
from vanishing_variance.results.scale import changed
from vanishing_variance.studies.line import STUDIES, LineRun

# What a line may change of params.yaml, sections and single keys; tests are the same for all lines.
TRAINED = (
    *("norm", "attention", "network", "network_options"),
    *("blocks", "seeds_per_block", "tasks", "ranges", "model", "training"),
)
# What decides the test sequences, and what all lines share so that they can be compared.
OF_TESTS = re.compile(r"seed|tasks\.\w+\.data(\..*)?")
OF_ALL = re.compile(r"ranges\.\w+\.(shortest|longest)")
NAME = "[a-z0-9][a-z0-9-]{0,63}"


def _named(name: str) -> str:
    if not re.fullmatch(NAME, name):
        raise ValueError("1 to 64 characters of a-z, 0-9 and -")
    return name


def _one_of(name: Any, choices: Callable[[], list[str]]) -> Any:
    if name not in choices():
        raise ValueError(f"one of {', '.join(choices())}")
    return name


def _with_parameters(kept: Any) -> Any:
    """Return a list of names as lines without parameters."""
    if not isinstance(kept, list):
        return kept
    different(kept)
    return {line: {} for line in kept}


Line = Annotated[str, AfterValidator(_named)]


class Study(Section):
    """The file.

    `range`: of the training lengths. `lengths`: those of test.lengths that are tested; without, all. `sequences`: how
    many a length kept lines were tested on; without, test.sequences. `base`: parameters that all lines share, and
    `lines`: those of each by its name; keys of params.yaml, nested or dotted. `kept`: further lines, with or without
    their parameters, whose accuracies are in git, and which are not trained. `compare`: pairs of a line and its
    baseline; without, each line is compared with the first. `path`: lines in an order, each of which differs in one
    thing from the one before; the gains of neighbours over their baselines are compared.
    """

    question: str
    tasks: Annotated[list[Literal["argmax", "dictionary"]], Field(min_length=1), AfterValidator(different)]
    range: Literal["short", "long"] = "short"
    lengths: Lengths = Field(default_factory=list)
    sequences: Several | None = None
    base: dict[str, Any] = Field(default_factory=dict)
    lines: dict[Line, dict[str, Any]]
    kept: Annotated[dict[Line, dict[str, Any]], BeforeValidator(_with_parameters)] = Field(default_factory=dict)
    compare: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    path: Annotated[list[Line], AfterValidator(different)] = Field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of all lines, in order."""
        return [*self.lines, *self.kept]

    @property
    def baselines(self) -> dict[str, str]:
        """The baseline of each line that is compared."""
        if self.compare:
            return dict(self.compare)
        first, *others = self.names
        return dict.fromkeys(others, first)


class LineParams(Params):
    """All parameters of a line, which may have any normaliser, or none, and any attention map."""

    norm: Annotated[str, BeforeValidator(partial(_one_of, choices=registry.norm_names))]
    attention: Annotated[str, BeforeValidator(partial(_one_of, choices=registry.attention_names))]


def read_study(name: str) -> Study:
    """Return a study. Raises InputError, one line that names the key, its value and what is allowed."""
    path = STUDIES / name / "study.yaml"
    if not re.fullmatch(NAME, name) or not path.exists():
        studies = sorted(other.parent.name for other in STUDIES.glob("*/study.yaml"))
        raise InputError(f"study: {shown(name)} is unknown; choose from {', '.join(studies) or 'none'}")
    document = read_yaml(path)
    try:
        study = Study.model_validate(document)
    except ValidationError as problem:
        raise InputError(f"{path}: {explained(problem, '', Study)}") from None
    if not study.names:
        raise InputError(f"{path}: lines is {shown(study.lines)}; must have at least 1 line")
    if study.sequences and study.lines:
        raise InputError(f"{path}: sequences is for kept lines alone; lines are tested on test.sequences")
    both = study.lines.keys() & study.kept.keys()
    if both:
        raise InputError(f"{path}: kept has {min(both)}, which is a line; a line is trained, or it is kept")
    compared = [line for line, _ in study.compare]
    for line in compared:
        if compared.count(line) > 1:
            raise InputError(f"{path}: compare has {line} with two baselines; a line has one")
    for line in [line for pair in study.compare for line in pair]:
        if line not in study.names:
            raise InputError(f"{path}: compare has {shown(line)}; choose from {', '.join(study.names)}")
    for line in study.path:
        if line not in study.baselines:
            raise InputError(f"{path}: path has {line}; choose from what is compared: {', '.join(study.baselines)}")
    return study


def held_out(params: Mapping[str, Any], study: Study) -> dict[str, Any]:
    """Return the section `test` of all lines. Raises InputError where the study's lengths are none of params.yaml's."""
    test: Test = get_param(params, "test", Test)
    longest = get_param(params, f"ranges.{study.range}", Range).longest
    lengths = study.lengths or test.lengths
    if not set(lengths) <= set(test.lengths):
        raise InputError(f"lengths is {shown(lengths)}; choose from test.lengths: {', '.join(map(str, test.lengths))}")
    if study.lengths and not lengths[0] <= longest < lengths[-1]:
        raise InputError(f"lengths is {shown(lengths)}; must have one up to {longest}, of training, and one above")
    if lengths[-1] <= longest:
        raise InputError(f"{PATH}: test.lengths has none above {longest}, the longest in training")
    return {"lengths": lengths, "sequences": study.sequences or test.sequences}


def line_params(params: Mapping[str, Any], study: Study, line: str) -> dict[str, Any]:
    """Return params.yaml with what the study and its line change.

    Raises InputError, which names params.yaml, the base or the line, the first that has the mistake.
    """
    base = flattened(study.base)
    own = flattened((study.lines | study.kept)[line])
    changes = base | own
    try:
        for key in filter(OF_ALL.fullmatch, own):
            raise InputError(f"{key} cannot differ between lines, which are compared beyond it; set it in base")
        resolved = _resolved(params, changes)
        if resolved["network"] != PAPER:
            _check_read(resolved["network"], own)
    except InputError as problem:
        earlier = {PATH: {}, "base": base}
        whose = next((name for name in earlier if _mistake(params, earlier[name]) == str(problem)), f"line {line}")
        raise InputError(f"{whose}: {str(problem).removeprefix(f'{PATH}: ')}") from None
    return resolved


def _mistake(params: Mapping[str, Any], changes: Mapping[str, Any]) -> str | None:
    try:
        _resolved(params, changes)
    except InputError as problem:
        return str(problem)
    return None


def _resolved(params: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return params.yaml with changes by dotted key. Raises InputError."""
    changes = dict(changes)
    options = {key.partition(".")[2]: changes.pop(key) for key in list(changes) if key.startswith("network_options.")}
    if options or "network" in changes:  # those of params.yaml may be another network's
        changes = {"network_options": options} | changes
    network = changes.get("network", params.get("network", PAPER))
    if network != PAPER:  # of the base and params.yaml it is other lines'
        changes["attention"] = "softmax"
    for key in changes:
        if OF_TESTS.fullmatch(key):
            raise InputError(f"{key} cannot differ; it decides the test sequences, which are those of {PATH}")
        if key.split(".")[0] not in TRAINED:
            raise InputError(f"{key} cannot differ; a line has {', '.join(TRAINED)}")
    resolved = changed(params, changes)
    check(resolved, LineParams)
    return resolved


def check_pairs(study: Study, resolved: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise InputError where a pair of trained lines shares no seed; `resolved`: the parameters by line."""
    by_line = {line: _seeds(resolved[line]) for line in study.lines}
    for line, baseline in study.compare:
        if study.lines.keys() >= {line, baseline} and by_line[line].isdisjoint(by_line[baseline]):
            raise InputError(f"compare has {line} and {baseline}, which have no seed in common; change their blocks")


def _seeds(params: Mapping[str, Any]) -> set[int]:
    return {seed for block in params["blocks"] for seed in seeds(block, params["seeds_per_block"])}


def check_batch(params: Mapping[str, Any], this: LineRun) -> None:
    """Raise InputError, which names the line, where another network than the paper's does not take a batch."""
    if params["network"] == PAPER:
        return
    plan, checks = (import_module(f"vanishing_variance.plain.{name}") for name in ("plan", "check"))  # torch's seconds
    try:
        checks.check_network(plan.PlainPlan.of(params, this, params["network"], params["network_options"]), 0)
    except InputError as problem:
        raise InputError(f"line {this.line}: {problem}") from None


def _check_read(network: str, own: Iterable[str]) -> None:
    """Raise InputError where a line's own keys are some that only the paper's network reads."""
    for key in own:
        if key == "attention" or (key.startswith("model.") and key != "model.epsilon"):
            plan = import_module("vanishing_variance.plain.plan")  # here, as in params.py
            options = ", ".join(plan.option_kinds(network)) or "none"
            raise InputError(f"network {network} does not read {key}; its options are network_options: {options}")
