"""Training of a block of seeds by the plain engine: a process each on a CPU, on a GPU all at once.

Where a network draws random numbers, as for dropout, a GPU trains its seeds one after another, too: what a seed draws
depends on no other. A GPU draws other numbers than a CPU.

S seeds.
"""

import hashlib
import multiprocessing
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from vanishing_variance.engine import loop
from vanishing_variance.engine.adam import TorchAdam, learning_rates
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.block import joined, train_in_chunks, trained_block
from vanishing_variance.engine.device import device
from vanishing_variance.engine.graphs import on_device
from vanishing_variance.engine.plan import TrainedBlock
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.parallel import Report
from vanishing_variance.plain.gradients import Gradients, Single, Stacked, can_stack
from vanishing_variance.plain.model import PlainModel, initial_model
from vanishing_variance.plain.plan import PlainPlan
from vanishing_variance.plain.trial import check_network


def train_block(plan: PlainPlan, seeds: Sequence[int], checkpoints: Path | None = None) -> TrainedBlock:
    """Train a block of seeds; weights are named as in the state of a `PlainModel`.

    A training that was cut off goes on from its checkpoints in the folder `checkpoints`, which takes a network by name:
    of a class's code nothing is known. Raises InputError where the network does not fit, and DivergedError.
    """
    check_network(plan, seeds[0])
    plan = replace(plan, starts=(seeds[0], _start(plan, seeds[0])))
    kept = checkpoints if isinstance(plan.network, str) else None
    return train_in_chunks(_train_chunk, plan, seeds, 1 if device().type == "cpu" else len(seeds), kept)


def _start(plan: PlainPlan, seed: int) -> str:
    """Return a hash of the initial weights of a seed."""
    digest = hashlib.sha256()
    for name, tensor in initial_model(plan, seed).state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()


def _models(plan: PlainPlan, seeds: Sequence[int]) -> list[PlainModel]:
    """Return the models of seeds as training begins. Raises InputError where other processes begin otherwise."""
    is_other = multiprocessing.parent_process() is not None
    if is_other and plan.starts is not None and _start(plan, plan.starts[0]) != plan.starts[1]:
        why = "starts from other weights in another process, as where the order of a set decides; sort it"
        raise InputError(f"network {plan.network_name}: {why}")
    return [initial_model(plan, seed).to(device()).train() for seed in seeds]


def _can_stack(plan: PlainPlan, models: Sequence[PlainModel], seeds: Sequence[int]) -> bool:
    """Return whether models are trained at once."""
    batch, labels = next(batches(plan, seeds))
    on_device = {name: array.to(device()) for name, array in batch.items()}
    return can_stack(models, on_device, labels.to(device()))


class PlainSteps:
    """What `engine.loop.train` asks of an ensemble, of models whose gradients are given: torch's AdamW."""

    def __init__(self, plan: PlainPlan, gradients: Gradients, seeds: Sequence[int]) -> None:
        self.weights = gradients.weights
        self._gradients, self._steps = gradients, plan.steps
        rates = learning_rates(plan.training, plan.steps)
        self.optimiser = TorchAdam(gradients.parameters, (), rates, plan.training.weight_decay)
        # of what draws within a network while training, such as dropout: seeds that do are trained one after another
        noise = stream(plan.root_seed, "noise", plan.variant.task_name, plan.range_name, *seeds)
        self._noise = noise.integers(2**63, size=plan.steps)
        # what torch.func takes decides nothing by its numbers, so every step is the same work
        self._step = on_device(self._make, recorded=isinstance(gradients, Stacked))

    def step(self, number: int, batch: dict[str, Tensor], labels: Tensor) -> Tensor:
        """Make a step, and return its losses in nats, (S,). Raises InputError where what was trained would be lost."""
        torch.manual_seed(int(self._noise[number - 1]))
        loss = self._step(batch, labels)
        if number % loop.STEPS_PER_RECORD == 0 or number == self._steps:
            self._gradients.check_bound()
        return loss

    def snapshot(self) -> dict[str, Tensor]:
        """Return the weights as they are after the last step."""
        return self.weights

    def finish(self) -> None:
        """Do nothing: all weights are up to date."""

    def _make(self, batch: dict[str, Tensor], labels: Tensor) -> Tensor:
        self.optimiser.read({})  # of no table a few rows; gradients to zero
        loss = self._gradients.backward(batch, labels)
        self.optimiser.step()
        return loss


def _train_chunk(plan: PlainPlan, seeds: Sequence[int], checkpoint: Path | None, report: Report) -> TrainedBlock:
    models = _models(plan, seeds)
    if len(seeds) > 1 and not _can_stack(plan, models, seeds):
        chunks = []
        for seed in seeds:
            own = checkpoint and checkpoint.with_stem(f"{checkpoint.stem}-{seed}")
            chunks.append(_train_chunk(plan, [seed], own, report))
        return joined(chunks)
    gradients = Single(models[0]) if len(models) == 1 else Stacked(models)
    with torch.random.fork_rng():
        losses, kept = loop.train(plan, PlainSteps(plan, gradients, seeds), seeds, report, checkpoint)
    return trained_block(plan, seeds, gradients.weights, losses, kept)
