"""Training and evaluation of one variant in memory, without DVC: for notebooks and scripts.

The same seeds and streams as in the pipeline. On one machine the same parameters give the same accuracies where a seed
is trained beside the same others: `seeds` are cut into chunks of training.seeds_per_process, as those of a block are.
Beside others its sums round differently, and after some thousand steps it is another model.
"""

import copy
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.block import train_block
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.harness.caller import as_before
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.sections import LONGEST, PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure import plain_models
from vanishing_variance.measure.evaluation.block import accuracies
from vanishing_variance.measure.fast_models import fast_correct
from vanishing_variance.measure.held_out import Test
from vanishing_variance.params import changed, check
from vanishing_variance.plain import training as plain_training
from vanishing_variance.plain.plan import NetworkChoice, PlainPlan

# In a checkout a link to the root's params.yaml, and in an installed package its content.
DEFAULTS = Path(__file__).with_name("params.yaml")


@dataclass(frozen=True)
class Trained:
    """Trained models of one variant.

    `weights` by name, (seeds, ...) each; `losses`: seed, step, loss (nats); `kept`: weights that are kept beside the
    last ones, such as `averaged`. `params` are those they were trained with.
    """

    plan: TrainingPlan
    seeds: Sequence[int]
    weights: Mapping[str, np.ndarray]
    losses: pd.DataFrame
    kept: Mapping[str, Mapping[str, np.ndarray]]
    params: Mapping[str, Any]

    def __repr__(self) -> str:
        network = self.plan.network_name if isinstance(self.plan, PlainPlan) else PAPER
        variant = self.plan.variant
        names = f"{variant.task_name}, {variant.norm_name}, network {network}"
        return f"Trained({names}, seeds {shown(list(self.seeds))}, {self.plan.steps} steps)"


def read_params(changes: Mapping[str, Any] | None = None, path: Path | str | None = None) -> dict[str, Any]:
    """Return params.yaml with `changes` by dotted key, such as {"model.width": 64}.

    Without a `path` it is that of the current folder, or where there is none, DEFAULTS. Raises InputError, which names
    the key, its value and what is allowed.
    """
    _require_mapping("changes", changes, "dotted keys to values")
    if path is None:
        path = PATH if PATH.exists() else DEFAULTS
    if not isinstance(path, Path | str):
        raise InputError(f"path is {shown(path)}; must be that of a file")
    params = changed(read_yaml(Path(path)), changes or {})
    check(params)
    return params


@as_before()
def train(
    params: Mapping[str, Any],
    task: str,
    norm: str,
    seeds: Iterable[int],
    range_: str = "short",
    attention: str | None = None,
    network: NetworkChoice | None = None,
    options: Mapping[str, Any] | None = None,
) -> Trained:
    """Train `seeds` of a variant, over all cores or on the GPU.

    `task`: argmax or dictionary; `norm`: a file of norms/; `range_`: short (up to 16 items) or long (up to 256);
    `attention`: a file of attentions/, by default that of `params`. `network`: a file of networks/ or a class, trained
    by the plain engine with `options`, its keyword arguments; by default that of `params`, the paper's by the fast one.
    Raises InputError for what it does not take, DivergedError for a loss that is not finite.
    """
    check(params)
    params = copy.deepcopy(params)  # whose owner may change them before `evaluate`
    numbers = _numbers("seeds", seeds, 0, 2**31 - 1, "range(4)")
    _require_mapping("options", options, "names to values")
    if network is None and options:
        raise InputError("options are those of a network; name it")
    if network is None and params["network"] != PAPER:
        network = params["network"]
    if options is None and network == params["network"]:
        options = params["network_options"]
    run = Run(task, range_, norm, 0, params["attention"] if attention is None else attention)
    if network is None:
        plan = TrainingPlan.of(params, run)
        block = train_block(plan, numbers)
    else:
        if network != PAPER and (attention is not None or run.attention != "softmax"):
            why = f"no other network than {PAPER} has an attention map by name"
            raise InputError(f"attention is {run.attention}; {why}")
        plan = PlainPlan.of(params, run, network, options)
        block = plain_training.train_block(plan, numbers)
    return Trained(plan, numbers, block.weights, block.losses, block.kept, params)


@as_before()
def evaluate(trained: Trained, lengths: Iterable[int] | None = None, sequences: int | None = None) -> pd.DataFrame:
    """Return the accuracy of every model: seed, rule, length, accuracy as a fraction.

    `rule`: plain, as trained; hard, all attention on the largest logit; adaptive, the published temperature, where the
    attention map is a softmax; and, as they are, the weights that were kept beside the last ones (averaged, step_<n>).
    Of a `network`, neither hard nor adaptive. `lengths` and `sequences` a length are those of params.yaml by default.
    Fewer sequences are other sequences than the pipeline's. Over the cores, as `train`. Raises InputError.
    """
    tested, number = _test(trained, lengths, sequences)
    weights = {"plain": trained.weights, **trained.kept}
    if isinstance(trained.plan, PlainPlan):
        correct = plain_models.plain_correct(trained.plan, trained.seeds, weights, tested, number)
    else:
        correct = fast_correct(trained.plan, trained.seeds, weights, tested, number)
    return accuracies(correct, trained.seeds)


@as_before()
def inside(trained: Trained, lengths: Iterable[int] | None = None, sequences: int | None = None) -> pd.DataFrame:
    """Return what is inside the models of a `network`: seed, layer, head, length, target, variance.

    Layers and heads count from 0; `target` is the attention to the target item, `variance` that of O over the features
    of a head; means over the sequences of `evaluate`. Raises InputError, "not measured", where a network has no
    `inside`.
    """
    tested, number = _test(trained, lengths, sequences)
    if not isinstance(trained.plan, PlainPlan):
        raise InputError("not measured here; train with a network, such as network='paper'")
    return plain_models.plain_inside(trained.plan, trained.seeds, trained.weights, tested, number)


def _test(trained: Any, lengths: Any, sequences: Any) -> tuple[list[int], int]:
    """Return the lengths, and the sequences of each, that models are tested with. Raises InputError."""
    if not isinstance(trained, Trained):
        raise InputError(f"trained is {shown(trained)}; must be what train returned")
    test: Test = get_param(trained.params, "test", Test)
    longest = trained.plan.variant.task.longest or LONGEST
    numbers = _numbers("lengths", test.lengths if lengths is None else lengths, 1, longest, "[16, 64]")
    try:
        number = _whole(test.sequences if sequences is None else sequences)
    except TypeError:
        number = 0
    if not 1 <= number < 2**31:
        raise InputError(f"sequences is {shown(sequences)}; must be a whole number from 1 on")
    return numbers, number


def _numbers(name: str, values: Any, least: int, most: int, example: str) -> list[int]:
    """Return different whole numbers. Raises InputError where they are not."""
    try:
        numbers = [_whole(value) for value in values]
    except TypeError:
        numbers = []
    if not numbers or len(set(numbers)) < len(numbers) or min(numbers) < least or max(numbers) > most:
        allowed = f"different whole numbers from {least} to {most}, such as {example}"
        raise InputError(f"{name} is {shown(values)}; must be {allowed}")
    return numbers


def _whole(value: Any) -> int:
    """Return a whole number, one of numpy as Python's. Raises TypeError for anything else, a truth value too."""
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _require_mapping(name: str, value: Any, kind: str) -> None:
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{name} is {shown(value)}; must be a mapping of {kind}")
