"""The training loop of both engines: batches, records of the loss, checkpoints, and the weights that are kept.

S seeds, B sequences a batch.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from vanishing_variance.engine.adam import Adam
from vanishing_variance.engine.ahead import training_batches
from vanishing_variance.engine.checkpoints import Checkpoint
from vanishing_variance.engine.device import device
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.kept_weights import KeptWeights
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.parallel import Report

# The loss is recorded as its mean over this many steps.
STEPS_PER_RECORD = 100


class Steps(Protocol):
    """An ensemble, whose weights, (S, ...) each, are trained in place."""

    @property
    def weights(self) -> Weights:
        """All that is trained and kept."""

    @property
    def optimiser(self) -> Adam:
        """Steps them."""

    def step(self, number: int, batch: dict[str, Tensor], labels: Tensor) -> Tensor:
        """Make a step, by its number from 1, and return its losses in nats, (S,)."""

    def snapshot(self) -> Weights:
        """Return the weights as they are after the last step."""

    def finish(self) -> None:
        """Bring all weights up to date after the last step."""


def train(
    plan: TrainingPlan,
    ensemble: Steps,
    seeds: Sequence[int],
    report: Report = lambda done: None,
    checkpoint_path: Path | None = None,
) -> tuple[np.ndarray, dict[str, dict[str, Tensor]]]:
    """Train an ensemble, in place, on fresh sequences at every step.

    Return the losses (records, S) in nats, float32, and the weights that are kept beside the last ones, by name (see
    KeptWeights). `report` is called with the seed-steps completed since its last call. With a checkpoint it goes on
    from there and writes it now and then. Raises DivergedError, which names the first step and seed whose loss is not
    finite, or a weight that is finite at first and not at the end: no seed is ever dropped.
    """
    kept = KeptWeights(plan.training, plan.steps, ensemble.weights)
    # all but what a network holds as it is, such as a mask of -inf
    begins_finite = [name for name, tensor in ensemble.weights.items() if torch.isfinite(tensor).all()]
    history = torch.full((plan.steps, len(seeds)), torch.nan, dtype=torch.float32, device=device())
    state_after = partial(training_state, ensemble, kept, history)

    checkpoint = Checkpoint(checkpoint_path)
    completed = checkpoint.restore(state_after)
    ensemble.optimiser.resume(completed)
    report(completed * len(seeds))

    data = training_batches(plan, seeds, completed)
    for step in range(completed + 1, plan.steps + 1):
        history[step - 1] = ensemble.step(step, *next(data))
        if kept.due(step):
            kept.add(step, ensemble.snapshot())

        due = checkpoint.due()
        if due or step % STEPS_PER_RECORD == 0 or step == plan.steps:
            check_losses(plan, seeds, history[:step])
            report((step - completed) * len(seeds))
            completed = step
        if due:
            checkpoint.save(state_after, completed)

    ensemble.finish()
    check_weights(plan, seeds, {name: ensemble.weights[name] for name in begins_finite})
    checkpoint.save(state_after, plan.steps)  # until the whole block is written
    return mean_losses(history.cpu().numpy()), kept.means()


def training_state(ensemble: Steps, kept: KeptWeights, history: Tensor, completed: int) -> dict[str, Tensor]:
    """Return all that so many steps change, by name. Sequences are drawn from named streams, which have no state."""
    state = {"history": history}
    for name, tensor in ensemble.weights.items():
        state[f"weights.{name}"] = tensor.detach()
    for name, tensor in ensemble.optimiser.state().items():
        state[f"optimiser.{name}"] = tensor
    for name, tensor in kept.state(completed).items():
        state[f"kept.{name}"] = tensor
    return state


def check_losses(plan: TrainingPlan, seeds: Sequence[int], history: Tensor) -> None:
    """Raise DivergedError for the first loss (steps, S) that is not finite."""
    bad = (~torch.isfinite(history)).nonzero()
    if len(bad):
        step, place = bad[0].tolist()
        loss = history[step, place].item()
        raise DivergedError(f"train {plan.name}: the loss of seed {seeds[place]} is {loss} at step {step + 1}")


def check_weights(plan: TrainingPlan, seeds: Sequence[int], weights: Weights) -> None:
    """Raise DivergedError for the first weight that is not finite."""
    for name, tensor in weights.items():
        finite = torch.isfinite(tensor.reshape(len(tensor), -1)).all(1).tolist()
        if not all(finite):
            seed = seeds[finite.index(False)]
            raise DivergedError(f"train {plan.name}: {name} of seed {seed} is not finite after the last step")


def mean_losses(history: np.ndarray) -> np.ndarray:
    """Return the mean losses (records, S) of every STEPS_PER_RECORD steps of all (steps, S)."""
    means = []
    for first in range(0, len(history), STEPS_PER_RECORD):
        steps = history[first : first + STEPS_PER_RECORD]
        means.append(steps.mean(0))
    return np.stack(means)
