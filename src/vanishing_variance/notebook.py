"""Training and evaluation of one variant in memory, without DVC: for notebooks and scripts.

The same seeds and streams as in the pipeline. On one machine the same parameters give the same accuracies where a seed
is trained beside the same others: `seeds` are cut into chunks of training.seeds_per_process, as those of a block are.
Beside others its sums round differently, and after some thousand steps it is another model.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from torch import nn

from vanishing_variance import engines
from vanishing_variance.engine import registry
from vanishing_variance.engine.drawing import looked_at
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.task import Task, name_of
from vanishing_variance.engine.variant import Given
from vanishing_variance.harness.by_value import ByValue, copied
from vanishing_variance.harness.caller import as_before
from vanishing_variance.harness.edits import require_unedited
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.harness.sections import LONGEST, PATH, get_param
from vanishing_variance.harness.whole import count, whole, whole_numbers
from vanishing_variance.harness.yaml import flattened, read_yaml
from vanishing_variance.measure import tested as of_models
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.plain_models.limited import model_of, of_seed
from vanishing_variance.params import changed, check, check_read, say_unread, section_of, with_tasks
from vanishing_variance.plain.model import PlainModel, as_plain
from vanishing_variance.plain.plan import NetworkChoice
from vanishing_variance.studies.files import PACKAGE, source_hash
from vanishing_variance.studies.sources import hashes
from vanishing_variance.task_check import check_declared, check_task, reads_order

# In a checkout a link to the root's params.yaml, and in an installed package its content.
DEFAULTS = Path(__file__).with_name("params.yaml")
# Of a normaliser or an attention map.
FUNCTIONS = ("normalise", "scale", "weights")
# Items of a test, over all sequences and models, that take a core a few seconds.
SMALL = 2**24
# What to do where code was edited.
ANEW = "since this Python loaded it; start Python anew"
# Sequences of a task that is given, which every process must draw alike.
DRAWN = 64


@dataclass(frozen=True)
class Trained(ByValue):
    """Trained models of one variant.

    `weights` by name, (seeds, ...) each; `losses`: seed, step, loss (nats); `kept`: weights that are kept beside the
    last ones, such as `averaged`. `params` are those they were trained with. `plan` has copies of what was
    given, with its code; `pickle` keeps them. What was named has its file alone: `files` are the hashes of these.
    """

    plan: TrainingPlan
    seeds: Sequence[int]
    weights: Mapping[str, np.ndarray]
    losses: pd.DataFrame
    kept: Mapping[str, Mapping[str, np.ndarray]]
    params: Mapping[str, Any]
    files: Mapping[str, str]

    @property
    def network_name(self) -> str:
        """The name of the network's file, or of its class."""
        return self.plan.network_name

    def __repr__(self) -> str:
        variant = self.plan.variant
        names = f"{variant.task_name}, {variant.norm_name}, {variant.attention_name}, network {self.network_name}"
        return f"Trained({names}, seeds {shown(list(self.seeds))}, {self.plan.steps} steps)"


@contextmanager
def _settled() -> Iterator[None]:
    """Compute as in a new process, which must find the code that this one has. Raises InputError."""
    require_unedited(ANEW)
    with as_before():
        yield


def read_params(changes: Mapping[str, Any] | None = None, path: Path | str | None = None) -> dict[str, Any]:
    """Return params.yaml with `changes` by dotted key, such as {"model.width": 64}.

    Without a `path` it is that of the current folder, or where there is none, DEFAULTS. Raises InputError, which names
    the key, its value and what is allowed.
    """
    require_unedited(ANEW)
    _require_mapping("changes", changes, "dotted keys to values")
    if path is None:
        path = PATH if PATH.exists() else DEFAULTS
    if not isinstance(path, Path | str):
        raise InputError(f"path is {shown(path)}; must be that of a file")
    changes = changes or {}
    tasks = [str(key).split(".")[1] for key in changes if str(key).startswith("tasks.")]
    known = [name for name in tasks if name in registry.names("tasks")]
    params = changed(with_tasks(read_yaml(Path(path)), known), changes)
    check(params)
    if params["network"] != PAPER:
        check_read(params["network"], [key for key in flattened(changes) if key != "attention"])
    return params


@_settled()
def train(
    params: Mapping[str, Any],
    task: str | Task,
    norm: Any,
    seeds: Iterable[int],
    range_: str = "short",
    attention: Any = None,
    network: NetworkChoice | None = None,
    options: Mapping[str, Any] | None = None,
    steps: int | None = None,
) -> Trained:
    """Train `seeds` of a variant, over all cores or on the GPU; what is given is copied, with its code.

    `task`: a file of tasks/ or a Task; `norm`: a file of norms/, or a class with what such a file has, or what makes
    an nn.Module of a width; `range_`: short (up to 16 items) or long (up to 256); `attention`: a file of
    attentions/, or a class, by default that of `params`. `network`: a file of networks/ or a class, with `options`, its
    keyword arguments; by default that of `params`. The fast engine trains the paper's, and the plain one others; where
    the fast one does not take the task or the normaliser, the plain one does, as a line says.
    `steps`: by default those of `params`, 10,000 of a task that they do not name. Raises InputError for what it does
    not take, DivergedError for a loss that is not finite.
    """
    check(params)
    task_name, given_task = (task, None) if isinstance(task, str) else (_name_of(task), task)
    params = _with_task(params, task_name, given_task)
    if steps is not None:
        params["tasks"][task_name]["steps"][range_] = count("steps", steps)
    numbers = whole_numbers("seeds", seeds, 0, 2**31 - 1, "range(4)")
    _require_mapping("options", options, "names to values")
    if network is None and options:
        raise InputError("options are those of a network; name it")
    network = params["network"] if network is None else network
    if options is None and network == params["network"]:
        options = params["network_options"]
    if network != PAPER and params["network"] == PAPER:
        say_unread(params["model"])
    _check_takes_width(norm)
    norm_name, given_norm = _choice(norm)
    attention_name, given_attention = _choice(params["attention"] if attention is None else attention)
    run = Run(task_name, norm_name, 0, range_, norm_name, attention_name)
    given = Given(given_task, given_norm, given_attention)
    plan = engines.plan_of(params, run, network, options, given=given)
    plan = _with_drawn(copied(plan, "copying what was given"))
    files = _hashes(plan)  # of what is about to be loaded
    block = engines.train(plan, numbers)
    if task_name not in registry.names("tasks"):
        del params["tasks"][task_name]  # of a class, which params.yaml has no section of
    return Trained(plan, numbers, block.weights, block.losses, block.kept, params, files)


@_settled()
def evaluate(trained: Trained, lengths: Iterable[int] | None = None, sequences: int | None = None) -> pd.DataFrame:
    """Return the accuracy of every model: seed, rule, length, accuracy as a fraction.

    And `no_answer`, the fraction of sequences whose class logits are not finite, which are wrong; a line says so.

    `rule`: last, as trained; hard, all attention on the largest logit; adaptive, the published temperature, where the
    attention map is a softmax; and, as they are, the weights that were kept beside the last ones (averaged, step_<n>).
    Of a network without an attention map neither hard nor adaptive, as a line says. `lengths` and `sequences` a length
    are those of params.yaml by default. Fewer sequences are other sequences than the pipeline's. Over the cores, as
    `train`. Raises InputError.
    """
    tested, number = _test(trained, lengths, sequences)
    weights = {"last": trained.weights, **trained.kept}
    plan, variant = trained.plan, trained.plan.variant
    check_task(variant.task, variant.task_name, plan.lengths, tested, in_order=_in_order(plan), sequences=number)
    small = len(trained.seeds) * number * sum(tested) < SMALL
    test = Test.model_construct(lengths=tested, sequences=number)  # one sequence may be enough here
    _, frames = of_models.answers(plan, trained.seeds, weights, test, small=small)
    return frames["accuracy"]


@_settled()
def inside(trained: Trained, lengths: Iterable[int] | None = None, sequences: int | None = None) -> pd.DataFrame:
    """Return what is inside the models: seed, layer, head, length, target, hard, variance; `lengths` as `evaluate`.

    Layers and heads count from 0; `target` is the attention to the target item, `hard` how often it is the largest,
    `variance` that of O over the features of a head; means over the sequences of `evaluate`. Raises InputError, "not
    measured", where a network has no `inside`.
    """
    tested, number = _test(trained, lengths, sequences)
    return of_models.inside(trained.plan, trained.seeds, trained.weights, tested, number)


@_settled()
def module(trained: Trained, seed: int) -> PlainModel:
    """Return the model of a seed with its last weights, an `nn.Module` on the CPU, in evaluation mode.

    From the arrays of the task's `sample` as tensors, (B, ...), to class logits (B, C); its `features` give items
    (B, N, F) and query (B, G) to its `network`. Raises InputError for a seed that was not trained.
    """
    _require_trained(trained)
    plan, weights = as_plain(trained.plan, trained.weights)
    seeds = list(trained.seeds)
    try:
        place = seeds.index(whole(seed))
    except (TypeError, ValueError):
        raise InputError(f"seed is {shown(seed)}; must be one of {shown(seeds)}") from None
    return model_of(plan, seeds[place], of_seed(weights, place)).cpu()


def _hashes(plan: TrainingPlan) -> dict[str, str]:
    """Return the hashes of the files of what a plan has by name, and of what these import."""
    variant = plan.variant
    given = variant.given
    choices = [("tasks", variant.task_name, given.task), ("norms", variant.norm_name, given.norm)]
    choices.append(("attentions", variant.attention_name, given.attention))
    if plan.is_plain:
        choices.append(("networks", plan.network_name, None if isinstance(plan.network, str) else plan.network))
    named = [(folder, name) for folder, name, thing in choices if thing is None]
    return hashes(f"{folder}/{name}.py" for folder, name in named if name in registry.names(folder))


def _with_drawn(plan: TrainingPlan) -> TrainingPlan:
    """Return the plan with sequences of its task, checked, which every process must draw, too."""
    variant, lengths = plan.variant, plan.lengths
    check_task(variant.task, variant.task_name, lengths, in_order=_in_order(plan))
    if variant.given.task is None:
        return plan
    drawn = looked_at(variant.task, DRAWN, lengths.longest)
    return replace(plan, variant=replace(variant, given=replace(variant.given, drawn=drawn)))


def _in_order(plan: TrainingPlan) -> bool:
    """Return whether the models may read in which order the items are."""
    variant = plan.variant
    given = variant.given.attention
    return reads_order(plan.network, variant.attention_name if given is None else given)


def _test(trained: Any, lengths: Any, sequences: Any) -> tuple[list[int], int]:
    """Return the lengths, and the sequences of each, that models are tested with. Raises InputError."""
    _require_trained(trained)
    test: Test = get_param(trained.params, "test", Test)
    longest = trained.plan.variant.task.longest or LONGEST
    numbers = whole_numbers("lengths", test.lengths if lengths is None else lengths, 1, longest, "[16, 64]")
    return numbers, count("sequences", test.sequences if sequences is None else sequences)


def _with_task(params: Mapping[str, Any], name: str, given: Task | None) -> dict[str, Any]:
    """Return a copy of parameters, whose owner may change them before `evaluate`, with a section of the task."""
    if given is None:
        return copy.deepcopy(with_tasks(params, [name]))
    check_declared(given, name)
    result = copy.deepcopy(dict(params))
    section = result["tasks"].setdefault(name, section_of(type(given)))
    section["data"] = given.model_dump()
    return result


def _name_of(task: Any) -> str:
    """Return the name of a task that is given as it is. Raises InputError where it is none."""
    if not isinstance(task, Task):
        raise InputError(f"task is {shown(task)}; must be a name, or an object of a class that is a Task")
    return name_of(task)


def _choice(choice: Any) -> tuple[str, Any]:
    """Return the name of a choice, and the choice where it is given as it is."""
    if isinstance(choice, str):
        return choice, None
    name = getattr(choice, "__name__", type(choice).__name__)
    with in_one_line(f"{name}()"):
        return name, choice() if _has_methods(choice) else choice


def _check_takes_width(norm: Any) -> None:
    """Raise InputError for a class of modules whose first argument, for which it gets a width, is something else."""
    if not isinstance(norm, type) or hasattr(norm, "LEARNABLE") or not issubclass(norm, nn.Module):
        return
    first = next(iter(signature(norm).parameters.values()), None)
    if first is not None and isinstance(first.default, float | bool | str):
        said = f"norm {norm.__name__} would get the width as its {first.name}, {shown(first.default)} by default"
        raise InputError(f"{said}; give a function of the width, such as lambda width: {norm.__name__}()")


def _has_methods(choice: Any) -> bool:
    """Return whether a choice is a class whose function takes `self`, so that an object of it is needed."""
    if not isinstance(choice, type) or not hasattr(choice, "LEARNABLE"):
        return False
    functions = [getattr(choice, name, None) for name in FUNCTIONS]
    return any(next(iter(signature(function).parameters), "") == "self" for function in functions if callable(function))


def _require_trained(trained: Any) -> None:
    if not isinstance(trained, Trained):
        raise InputError(f"trained is {shown(trained)}; must be what train returned")
    for name, before in getattr(trained, "files", {}).items():  # a pickle of before 2026-12-02 has none
        if source_hash(PACKAGE / name) != before:
            said = f"{name} was edited since these models were trained"
            raise InputError(f"{said}; put it back. Given as a class, not by name, models keep its code")


def _require_mapping(name: str, value: Any, kind: str) -> None:
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{name} is {shown(value)}; must be a mapping of {kind}")
