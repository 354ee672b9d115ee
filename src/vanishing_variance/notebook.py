"""Training and evaluation of one variant in memory, without DVC: for notebooks and scripts.

The same seeds and streams as in the pipeline, so the same parameters give the same accuracies.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.ensemble import train_block
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.paths import PAPER, Run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure import plain_models
from vanishing_variance.measure.evaluation.block import accuracies
from vanishing_variance.measure.held_out import Test, held_out_stream
from vanishing_variance.measure.inference.models import Models, joined
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.params import check
from vanishing_variance.plain import block as plain_block
from vanishing_variance.plain.plan import NetworkChoice, PlainPlan
from vanishing_variance.results.scale import changed

# params.yaml as it is in git: for use outside of the repository's folder.
DEFAULTS = Path(__file__).with_name("params.yaml")


@dataclass(frozen=True)
class Trained:
    """Trained models of one variant.

    `weights` by name, (seeds, ...) each; `losses`: seed, step, loss (nats); `others`: weights that are kept beside the
    last ones, such as `averaged`. `params` are those they were trained with.
    """

    plan: TrainingPlan
    seeds: Sequence[int]
    weights: Mapping[str, np.ndarray]
    losses: pd.DataFrame
    others: Mapping[str, Mapping[str, np.ndarray]]
    params: Mapping[str, Any]

    def __repr__(self) -> str:
        network = self.plan.network_name if isinstance(self.plan, PlainPlan) else PAPER
        variant = self.plan.variant
        names = f"{variant.task_name}, {variant.norm_name}, network {network}"
        return f"Trained({names}, seeds {shown(list(self.seeds))}, {self.plan.steps} steps)"


def read_params(changes: Mapping[str, Any] | None = None, path: Path | None = None) -> dict[str, Any]:
    """Return params.yaml with `changes` by dotted key, such as {"model.width": 64}.

    Without a `path` it is that of the current folder, or where there is none, DEFAULTS. Raises InputError, which names
    the key, its value and what is allowed.
    """
    if path is None:
        path = PATH if PATH.exists() else DEFAULTS
    params = changed(read_yaml(path), changes or {})
    check(params)
    return params


def train(
    params: Mapping[str, Any],
    task: str,
    norm: str,
    seeds: Sequence[int],
    range_: str = "short",
    attention: str | None = None,
    network: NetworkChoice | None = None,
    options: Mapping[str, Any] | None = None,
) -> Trained:
    """Train `seeds` of a variant, over all cores or on the GPU.

    `task`: argmax or dictionary; `norm`: a file of norms/; `range_`: short (up to 16 items) or long (up to 256);
    `attention`: a file of attentions/, by default that of `params`. `network`: a file of networks/ or a class, trained
    by the plain engine with `options`, its keyword arguments; by default that of `params`, the paper's by the fast one.
    Raises InputError for unknown names and repeated seeds, DivergedError for a loss that is not finite.
    """
    run = Run(task, range_, norm, 0, attention or params["attention"])
    numbers = _numbers(seeds)
    if network is None:
        if options:
            raise InputError("options are those of a network; name it")
        if params["network"] != PAPER:
            network, options = params["network"], params["network_options"]
    if network is None:
        plan = TrainingPlan.of(params, run)
        block = train_block(plan, numbers)
    else:
        if attention is not None and network != PAPER:
            raise InputError(f"attention is {attention}; no other network than {PAPER} has an attention map by name")
        plan = PlainPlan.of(params, run, network, options)
        block = plain_block.train_block(plan, numbers)
    return Trained(plan, numbers, block.weights, block.losses, block.others, params)


def evaluate(trained: Trained, lengths: Sequence[int] | None = None, sequences: int | None = None) -> pd.DataFrame:
    """Return the accuracy of every model: seed, rule, length, accuracy as a fraction.

    `rule`: plain, as trained; hard, all attention on the largest logit; adaptive, the published temperature, where the
    attention map is a softmax; and, as they are, the weights that were kept beside the last ones (averaged, step_<n>).
    Of a `network`, neither hard nor adaptive. `lengths` and `sequences` a length are those of params.yaml by default.
    Fewer sequences are other sequences than the pipeline's.
    """
    test: Test = get_param(trained.params, "test", Test)
    number = sequences or test.sequences
    lengths = lengths or test.lengths
    if isinstance(trained.plan, PlainPlan):
        weights = {"plain": trained.weights, **trained.others}
        answered = plain_models.plain_correct(trained.plan, trained.seeds, weights, lengths, number)
        return accuracies(answered, trained.seeds)
    variant = trained.plan.variant
    models = Models.of(variant, trained.weights)
    others = {rule: Models.of(variant, weights) for rule, weights in trained.others.items()}
    correct: dict[tuple[str, int], np.ndarray] = {}
    for length in lengths:
        rng = held_out_stream(trained.plan.root_seed, variant.task_name, length)
        batches = []
        for batch in of_length(variant.task, rng, number, length, models.batch_size(length)):
            answers = models.correct(batch, models.attend(batch))
            answers |= {rule: kept.correct_as_trained(batch) for rule, kept in others.items()}
            batches.append(answers)
        correct |= {(rule, length): of_rule for rule, of_rule in joined(batches).items()}
    return accuracies(correct, trained.seeds)


def inside(trained: Trained, lengths: Sequence[int] | None = None, sequences: int | None = None) -> pd.DataFrame:
    """Return what is inside the models of a `network`: seed, layer, head, length, target, variance.

    Layers and heads count from 0; `target` is the attention to the target item, `variance` that of O over the features
    of a head; means over the sequences of `evaluate`. Raises InputError, "not measured", where a network has no
    `inside`.
    """
    if not isinstance(trained.plan, PlainPlan):
        raise InputError("not measured here; train with a network, such as network='paper'")
    test: Test = get_param(trained.params, "test", Test)
    number = sequences or test.sequences
    return plain_models.plain_inside(trained.plan, trained.seeds, trained.weights, lengths or test.lengths, number)


def _numbers(seeds: Any) -> list[int]:
    """Return the seeds. Raises InputError where they are no different whole numbers."""
    try:
        numbers = [operator.index(seed) for seed in seeds]
    except TypeError:
        numbers = []
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise InputError(f"seeds is {shown(seeds)}; must be different whole numbers from 0 on, such as range(4)")
    return numbers
