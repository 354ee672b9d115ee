"""The door to the two engines, which train the same plans: who calls does not know which one does.

The fast one (`engine/`) trains an ensemble of the paper's network, the plain one (`plain/`) any `nn.Module`. The plain
one is imported where it trains alone, so that models of the fast one do not depend on its code.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from vanishing_variance.engine.plan import TrainedBlock, TrainingPlan
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.variant import NAMED, Given
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.progress import say


def plan_of(
    params: Mapping[str, Any], run: Run, network: Any = None, options: Any = None, *, given: Given = NAMED
) -> TrainingPlan:
    """Return the plan of a run's training, of the plain engine where the fast one does not take it, as a line says.

    `network`, a name or a class, and its `options`; by default those of `params`. Raises InputError.
    """
    if network is None:
        network, options = params["network"], params.get("network_options")
    if network != PAPER:
        plan: TrainingPlan = _plain("plan").PlainPlan.of_network(params, run, network, options, given=given)
        return plan
    if options:
        raise InputError("the options of network paper are the section model and attention of params.yaml")
    plan = TrainingPlan.of(params, run, given=given)
    if plan.why_plain:
        say(f"{plan.name}: trained by the plain engine, because {plan.why_plain}")
        plan = _plain("plan").PlainPlan.of_paper(plan)
    return plan


def train(plan: TrainingPlan, seeds: Sequence[int], checkpoints: Path | None = None) -> TrainedBlock:
    """Train a block of seeds; one that was cut off goes on from its files in the folder `checkpoints`.

    Raises InputError where a choice does not fit, and DivergedError for a loss that is not finite.
    """
    trains = _plain("training") if plan.is_plain else import_module("vanishing_variance.engine.block")
    block: TrainedBlock = trains.train_block(plan, seeds, checkpoints)
    return block


def check(plan: TrainingPlan, seed: int) -> None:
    """Raise InputError where a network of the plain engine does not take a batch of its task, and a step."""
    if plan.is_plain:
        _plain("trial").check_network(plan, seed)


def _plain(module: str) -> Any:
    return import_module(f"vanishing_variance.plain.{module}")
