"""The training loop: Adam on the cross-entropy, an ensemble of seeds at once (Section 3, B.1).

S seeds, B sequences a batch.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vanishing_variance.engine import checkpoints
from vanishing_variance.engine.adam import Adam, adam
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.device import device
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.network import Network
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.rates import learning_rates
from vanishing_variance.engine.sparse import touched_rows
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.parallel import Report

# The loss is recorded as its mean over this many steps.
STEPS_PER_RECORD = 100


def train(
    plan: TrainingPlan,
    weights: dict[str, Tensor],
    seeds: Sequence[int],
    report: Report = lambda done: None,
    kept: Path | None = None,
) -> np.ndarray:
    """Train `weights`, in place, by Adam with decoupled decay, on fresh sequences at every step.

    Return the losses (records, S) in nats, float32. `report` is called with the seed-steps made since its last call.
    With the checkpoint `kept` it goes on from there and writes it now and then. Raises DivergedError, which names the
    first step and seed whose loss is not finite, or a weight that is not finite at the end: no seed is ever dropped.
    """
    network, steps = plan.variant.network(), plan.steps
    for tensor in weights.values():
        tensor.requires_grad_()
    readers = network.embedding.SPARSE_TABLES
    sizes = {name: weights[name].shape[1] for name in readers}
    optimiser = adam(weights, readers, learning_rates(plan.training, steps), plan.training.weight_decay)
    history = np.full((steps, len(seeds)), np.nan, np.float32)
    made = 0 if kept is None else _resume(kept, weights, optimiser, history)
    report(made * len(seeds))
    sequences, recorded, saved = batches(plan, seeds, made), [], time.monotonic()
    for step in range(made, steps):
        batch, labels = next(sequences)
        batch, rows = touched_rows(batch, readers, sizes)
        batch, rows = ({name: array.to(device()) for name, array in of.items()} for of in (batch, rows))
        loss = losses(network, {**weights, **optimiser.read(rows)}, batch, labels.to(device()))
        loss.backward(torch.full_like(loss, 1 / loss.shape[1]))
        optimiser.step()
        recorded.append(loss.detach())
        due = kept is not None and time.monotonic() - saved > checkpoints.SECONDS_BETWEEN
        if due or (step + 1) % STEPS_PER_RECORD == 0 or step + 1 == steps:
            history[made : step + 1] = _finite(plan, seeds, torch.stack(recorded).mean(2).cpu().numpy(), made)
            report((step + 1 - made) * len(seeds))
            made = step + 1
            recorded.clear()
        if due and kept is not None:
            checkpoints.save(kept, arrays(_state(weights, optimiser, history)), made, steps)
            saved = time.monotonic()
    optimiser.finish()
    for name, tensor in weights.items():
        tensor.requires_grad_(False)
        bad = (~torch.isfinite(tensor.flatten(1))).any(1).nonzero()
        if len(bad):
            seed = seeds[int(bad[0])]
            raise DivergedError(f"train {plan.name}: {name} of seed {seed} is not finite after the last step")
    if kept is not None:  # until the whole block is written and recorded
        checkpoints.save(kept, arrays(_state(weights, optimiser, history)), steps, steps)
    return np.stack([history[first : first + STEPS_PER_RECORD].mean(0) for first in range(0, steps, STEPS_PER_RECORD)])


def _resume(kept: Path, weights: Weights, optimiser: Adam, history: np.ndarray) -> int:
    """Restore the checkpoint, if there is one; return the number of completed steps."""
    state = _state(weights, optimiser, history)
    found = checkpoints.load(kept, arrays(state))
    if found is None:
        return 0
    found_arrays, made = found
    for name, tensor in state.items():
        tensor.copy_(torch.from_numpy(found_arrays[name]))
    optimiser.resume(made)
    return made


def _state(weights: Weights, optimiser: Adam, history: np.ndarray) -> dict[str, Tensor]:
    """Return all that a step changes, by name. Sequences are drawn from named streams, which have no state."""
    return {
        "history": torch.from_numpy(history),
        **{f"weights.{name}": tensor.detach() for name, tensor in weights.items()},
        **{f"optimiser.{name}": tensor for name, tensor in optimiser.state().items()},
    }


def arrays(tensors: Weights) -> dict[str, np.ndarray]:
    """Return tensors as arrays on the CPU."""
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}


def _finite(plan: TrainingPlan, seeds: Sequence[int], losses: np.ndarray, made: int) -> np.ndarray:
    """Return the losses (steps, S) of the steps after the first `made`. Raises DivergedError."""
    if not np.isfinite(losses).all():
        step, seed = np.argwhere(~np.isfinite(losses))[0]
        loss, when = losses[step, seed], made + int(step) + 1
        raise DivergedError(f"train {plan.name}: the loss of seed {seeds[seed]} is {loss} at step {when}")
    return losses


def losses(network: Network, weights: Weights, batch: Weights, labels: Tensor) -> Tensor:
    """Return each sequence's cross-entropy in nats, (S, B)."""
    # sequences last, so that torch computes several at a time
    return cross_entropy(network(weights, batch).mT.contiguous(), labels, reduction="none")
