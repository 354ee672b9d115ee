"""A study: its question, the parameters of its lines, and which lines are compared (`studies/<name>/study.yaml`)."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, ValidationError

from vanishing_variance.engine import registry
from vanishing_variance.engine.ranges import RangeName
from vanishing_variance.engine.seeds import Blocks
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.sections import PATH, Lengths, Section, Several, different, explained
from vanishing_variance.harness.yaml import flattened, read_yaml
from vanishing_variance.results.columns import LAST
from vanishing_variance.results.paired import OF_ANSWERS, STATISTICS
from vanishing_variance.studies.files import STUDIES

NAME = "[a-z0-9][a-z0-9_-]{0,63}"
# Of a line beside parameters: of the training lengths, and which weights are tested where it is tuned.
RANGE, WEIGHTS = "range", "weights"
WEIGHTS_CHOICES = (LAST, "averaged")
# A value of `tune`, which names runs.
VALUE = r"[\w.+-]{1,64}"


def _named(name: str) -> str:
    if not re.fullmatch(NAME, name):
        raise ValueError("1 to 64 characters of a-z, 0-9, _ and -")
    return name


def named_file(name: Any, folder: str) -> Any:
    """Return the name of a file of a folder of choices; raise ValueError, as pydantic asks for, for another one."""
    choices = registry.names(folder)
    if name not in choices:
        raise ValueError(f"one of {', '.join(choices)}{registry.why_unknown(folder, name)}")
    return name


def _statistic(name: str) -> str:
    allowed = [known for known in STATISTICS if known not in OF_ANSWERS]
    if name not in allowed:
        raise ValueError(f"one of {', '.join(allowed)}")
    return name


Line = Annotated[str, AfterValidator(_named)]
Measurement = Literal["inside", "interventions", "proposition", "loss"]
MEASUREMENTS = get_args(Measurement)
TaskName = Annotated[str, AfterValidator(partial(named_file, folder="tasks"))]
StatisticName = Annotated[str, AfterValidator(_statistic)]


class Choose(Section):
    """The choice of a line's setting: `blocks` of the seeds that choose; a trained line is not compared by them.

    `grow`: steps by which a grid of numbers may grow at either end, for all lines of a task, while the best setting of
    a line lies there. `refine`: how often a step is then halved around each line's best setting.
    """

    blocks: Blocks
    grow: Annotated[int, Field(strict=True, ge=0, le=8)] = 1
    refine: Annotated[int, Field(strict=True, ge=0, le=4)] = 0


class Study(Section):
    """The file.

    `range`: of the training lengths; a line may have its own. `lengths`: those of test.lengths that are tested; or all.
    `sequences`: how many a length; or test.sequences, but where lines are kept. `base`: parameters that all lines
    share, and `lines`: those of each by its name; keys of params.yaml, nested or dotted. `kept`: lines of which
    git has results of seeds that are not trained; where more are, the line is in `lines`, too. `compare`: pairs of a
    line and a baseline; or each line with the first of its range, of which kept ones come first. `measure`: what is
    measured beside accuracies, in models of the fast engine: all of their `inside`, not the target's weight and the
    variance of O alone; `interventions`; Proposition 1, in the first model; and of all models the `loss`.
    `paper_tables`: whether Tables 1 to 6 and claims are wanted, too, of lines that differ in norm and range.
    `statistics`: what the board shows beside the usual, of `results.paired.STATISTICS`. `tune`: the values of keys
    that a line may have, or of `weights`, all combinations of which are tried, of each line the keys that it has not
    itself; `choose`: how.
    """

    question: str
    tasks: Annotated[list[TaskName], Field(min_length=1), AfterValidator(different)]
    range: RangeName = "short"
    lengths: Lengths = Field(default_factory=list)
    sequences: Several | None = None
    base: dict[str, Any] = Field(default_factory=dict)
    lines: dict[Line, dict[str, Any]]
    kept: dict[Line, dict[str, Any]] = Field(default_factory=dict)
    compare: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    measure: Annotated[list[Measurement], AfterValidator(different)] = Field(default_factory=list)
    paper_tables: bool = False
    statistics: list[StatisticName] = Field(default_factory=list)
    tune: dict[str, Any] = Field(default_factory=dict)
    choose: Choose | None = None

    @property
    def names(self) -> list[str]:
        """The names of all lines, in order; without `compare`, kept ones first, so that the baseline stays the same."""
        first, then = (self.lines, self.kept) if self.compare else (self.kept, self.lines)
        return list(dict.fromkeys([*first, *then]))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each line that is compared, and a baseline of it."""
        if self.compare:
            return [(line, baseline) for line, baseline in self.compare]
        first = {self.range_of(line): line for line in reversed(self.names)}
        pairs = [(line, first[self.range_of(line)]) for line in self.names]
        return [(line, baseline) for line, baseline in pairs if line != baseline]

    @property
    def measured(self) -> list[str]:
        """The measurements in the order of MEASUREMENTS; `paper_tables` adds `inside`, and `tune` adds `loss`."""
        wanted = {*self.measure, *(["inside"] if self.paper_tables else []), *(["loss"] if self.tune else [])}
        return [name for name in MEASUREMENTS if name in wanted]

    def partner(self, line: str) -> str | None:
        """Return the line whose target weights this one's models are given: its baseline, or one that it is of."""
        others = [theirs for ours, theirs in self.pairs if ours == line]
        others += [ours for ours, theirs in self.pairs if theirs == line]
        return others[0] if others else None

    def section(self, line: str) -> dict[str, Any]:
        """Return a line as the file has it."""
        return (self.kept | self.lines)[line]

    def own(self, line: str) -> dict[str, Any]:
        """Return the parameters of a line that are its own."""
        return {key: value for key, value in self.section(line).items() if key not in (RANGE, WEIGHTS)}

    def range_of(self, line: str) -> str:
        """Return the range that a line is trained on."""
        return str(self.section(line).get(RANGE, self.range))

    def grid(self, line: str) -> dict[str, list[Any]]:
        """Return the values of each key in which a line is tuned."""
        own = flattened(self.own(line))
        return {key: values for key, values in flattened(self.tune).items() if key not in (*own, WEIGHTS)}

    def weights(self, line: str) -> list[str]:
        """Return the rules of the weights among which a line's are chosen."""
        own = self.section(line).get(WEIGHTS)
        return [own] if own else list(self.tune.get(WEIGHTS, [LAST]))


@contextmanager
def of_study(name: str) -> Iterator[None]:
    """Let an InputError name the file of the study, of whose content it is, where it does not name params.yaml."""
    try:
        yield
    except InputError as problem:
        if str(problem).startswith(f"{PATH}: "):
            raise
        raise InputError(f"{STUDIES / name / 'study.yaml' if name else PATH}: {problem}") from None


def read_study(name: str) -> Study:
    """Return a study. Raises InputError, one line that names the key, its value and what is allowed."""
    path = STUDIES / name / "study.yaml"
    if not re.fullmatch(NAME, name) or not path.exists():
        studies = sorted(other.parent.name for other in STUDIES.glob("*/study.yaml"))
        raise InputError(f"study: {shown(name)} is unknown; choose from {', '.join(studies) or 'none'}")
    document = read_yaml(path)
    with of_study(name):
        try:
            study = Study.model_validate(document)
        except ValidationError as problem:
            raise InputError(explained(problem, "", Study)) from None
        _check_lines(study)
        _check_compared(study)
        _check_tuned(study)
    return study


def _check_lines(study: Study) -> None:
    """Raise InputError where there are no lines, or where one is not of a range, or two things at once."""
    if not study.names:
        raise InputError(f"lines is {shown(study.lines)}; must have at least 1 line")
    flattened({"base": study.base, "lines": study.lines, "kept": study.kept})  # raises for a key given twice
    for line in study.names:
        own = study.own(line)
        if study.range_of(line) not in get_args(RangeName):
            raise InputError(f"line {line}: range is {shown(study.range_of(line))}; must be short or long")
        is_both = line in study.lines and line in study.kept
        if is_both and but_blocks(study.lines[line]) != but_blocks(study.kept[line]):
            raise InputError(f"kept has other parameters of {line} than lines; they may differ in blocks alone")
        if study.paper_tables and list(but_blocks(own)) != ["norm"]:
            raise InputError(f"line {line} is {shown(own)}; with paper_tables each has its norm and range alone")
    if study.kept and not study.sequences:
        raise InputError("sequences is missing; with kept it is how many sequences of each length those were tested on")
    treatments = [(str(study.own(line).get("norm")), study.range_of(line)) for line in study.names]
    if study.paper_tables and len(set(treatments)) < len(treatments):
        raise InputError("two lines have the same norm and range, which paper_tables has once")


def but_blocks(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of a line by dotted key, without those that say which seeds it has."""
    return {key: value for key, value in flattened(own).items() if key not in ("blocks", "seeds_per_block")}


def _check_compared(study: Study) -> None:
    """Raise InputError where a pair is not of lines that can be compared."""
    for pair in study.compare:
        if study.compare.count(pair) > 1:
            raise InputError(f"compare has {shown(pair)} twice")
    for line in [line for pair in study.compare for line in pair]:
        if line not in study.names:
            raise InputError(f"compare has {shown(line)}; choose from {', '.join(study.names)}")
    for line, baseline in study.pairs:
        if line == baseline:
            raise InputError(f"compare has {line} with itself")
        if study.range_of(line) != study.range_of(baseline):
            raise InputError(f"compare has {line} and {baseline}, which are trained on different ranges")


def _check_tuned(study: Study) -> None:
    """Raise InputError for a grid that is none."""
    if bool(study.tune) != (study.choose is not None):
        raise InputError("tune and choose belong together: the values to try, and the seeds that choose among them")
    if study.tune and study.paper_tables:
        raise InputError("paper_tables is true; lines with tune have settings of their own, which its tables have not")
    for key, values in flattened(study.tune).items():
        if key in ("blocks", "seeds_per_block"):
            raise InputError(f"tune has {key}, which are the seeds of a line; choose.blocks are those that choose")
        _check_values(key, values)
        section, _, of_task = key.partition(".")
        task = of_task.partition(".")[0]
        if section == "tasks" and study.tasks != [task]:
            raise InputError(f"tune has {key}, in which of tasks only {task} can be tuned; set tasks to it alone")
    _check_weights(study)
    if study.tune and not any(map(study.grid, study.names)):
        raise InputError(f"tune is {shown(study.tune)}; no line has a key that it is tuned in")
    for line in study.names:
        if study.tune and "seeds_per_block" in study.own(line):
            raise InputError(f"line {line} has seeds_per_block; with tune it is the same for all, set it in base")


def _check_weights(study: Study) -> None:
    """Raise InputError for weights that there are not, or of a line that is not tuned."""
    for name, section in {"tune": study.tune, **study.kept, **study.lines}.items():
        chosen = section.get(WEIGHTS, LAST)
        for rule in chosen if isinstance(chosen, list) else [chosen]:
            if rule not in WEIGHTS_CHOICES:
                raise InputError(f"{name}: {WEIGHTS} is {shown(rule)}; choose from {', '.join(WEIGHTS_CHOICES)}")
    for line in study.names:
        weights = (study.kept | study.lines)[line].get(WEIGHTS)
        if isinstance(weights, list):
            raise InputError(f"line {line}: {WEIGHTS} is {shown(weights)}; must be one of them")
        if weights and not study.grid(line):
            raise InputError(f"line {line}: {WEIGHTS} is of a line that is tuned; of others both are on the board")


def _check_values(key: str, values: Any) -> None:
    if not isinstance(values, list) or not values or not all(map(_is_value, values)):
        raise InputError(f"tune: {key} is {shown(values)}; must be a list of values, each a number or a text")
    different_values = {text_of(value) for value in values}
    if len(different_values) < len(values):
        raise InputError(f"tune: {key} is {shown(values)}; must be without a value named twice")
    if is_numeric(values) and not all(low < high for low, high in pairwise([0, *values])):
        raise InputError(f"tune: {key} is {shown(values)}; numbers must be above 0, and increasing")


def text_of(value: Any) -> str:
    """Return a value of `tune` as it stands in the name of a run."""
    return str(value).lower().replace(".", "_")


def _is_value(value: Any) -> bool:
    return isinstance(value, str | int | float) and bool(re.fullmatch(VALUE, str(value), re.ASCII))


def is_numeric(values: list[Any]) -> bool:
    """Return whether values are all numbers, between which and beyond which there are others."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
