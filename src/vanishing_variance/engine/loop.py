"""The training loop: Adam on the cross-entropy, an ensemble of seeds at once (Section 3, B.1).

S seeds, B sequences a batch.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vanishing_variance.engine.adam import Adam, adam, learning_rates
from vanishing_variance.engine.ahead import training_batches
from vanishing_variance.engine.checkpoints import Checkpoint
from vanishing_variance.engine.device import device
from vanishing_variance.engine.graphs import on_device
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.network import Network
from vanishing_variance.engine.other_weights import OtherWeights
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.sparse import occurring_rows, touched_rows
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.parallel import Report

# The loss is recorded as its mean over this many steps.
STEPS_PER_RECORD = 100


def train(
    plan: TrainingPlan,
    weights: dict[str, Tensor],
    seeds: Sequence[int],
    report: Report = lambda done: None,
    checkpoint_path: Path | None = None,
) -> tuple[np.ndarray, dict[str, dict[str, Tensor]]]:
    """Train `weights`, in place, by Adam with decoupled decay, on fresh sequences at every step.

    Return the losses (records, S) in nats, float32, and the weights that are kept beside the last ones, by name (see
    OtherWeights). `report` is called with the seed-steps completed since its last call. With a checkpoint it goes on
    from there and writes it now and then. Raises DivergedError, which names the first step and seed whose loss is not
    finite, or a weight that is not finite at the end: no seed is ever dropped.
    """
    network = plan.variant.network()
    tables = network.embedding.sparse_tables
    table_sizes = {name: weights[name].shape[1] for name in tables}
    for tensor in weights.values():
        tensor.requires_grad_()
    optimiser = adam(weights, tables, learning_rates(plan.training, plan.steps), plan.training.weight_decay)
    others = OtherWeights(plan.training, plan.steps, weights)
    history = torch.full((plan.steps, len(seeds)), torch.nan, dtype=torch.float32, device=device())
    state_after = partial(training_state, weights, optimiser, others, history)

    checkpoint = Checkpoint(checkpoint_path)
    completed = checkpoint.restore(state_after)
    optimiser.resume(completed)
    report(completed * len(seeds))

    def make_step(batch: dict[str, Tensor], labels: Tensor) -> Tensor:
        if device().type == "cpu":
            batch, rows = touched_rows(batch, tables, table_sizes)
        else:
            batch, rows = occurring_rows(batch, tables)
        loss = losses(network, weights | optimiser.read(rows), batch, labels).mean(1)
        loss.sum().backward()  # no seed's loss depends on another's weights
        optimiser.step()
        return loss.detach()

    step_on_device, data = on_device(make_step), training_batches(plan, seeds, completed)
    for step in range(completed + 1, plan.steps + 1):
        history[step - 1] = step_on_device(*next(data))
        if others.due(step):
            others.add(step, optimiser.snapshot())

        due = checkpoint.due()
        if due or step % STEPS_PER_RECORD == 0 or step == plan.steps:
            check_losses(plan, seeds, history[:step])
            report((step - completed) * len(seeds))
            completed = step
        if due:
            checkpoint.save(state_after, completed)

    optimiser.finish()
    for tensor in weights.values():
        tensor.requires_grad_(False)
    check_weights(plan, seeds, weights)
    checkpoint.save(state_after, plan.steps)  # until the whole block is written
    return mean_losses(history.cpu().numpy()), others.means()


def losses(network: Network, weights: Weights, batch: Weights, labels: Tensor) -> Tensor:
    """Return each sequence's cross-entropy in nats, (S, B)."""
    class_logits = network(weights, batch)
    # sequences last, so that torch computes several at a time
    return cross_entropy(class_logits.mT.contiguous(), labels, reduction="none")


def training_state(
    weights: Weights, optimiser: Adam, others: OtherWeights, history: Tensor, completed: int
) -> dict[str, Tensor]:
    """Return all that so many steps change, by name. Sequences are drawn from named streams, which have no state."""
    state = {"history": history}
    for name, tensor in weights.items():
        state[f"weights.{name}"] = tensor.detach()
    for name, tensor in optimiser.state().items():
        state[f"optimiser.{name}"] = tensor
    for name, tensor in others.state(completed).items():
        state[f"others.{name}"] = tensor
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
        finite = torch.isfinite(tensor.flatten(1)).all(1).tolist()
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
