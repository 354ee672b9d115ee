"""Training (Section 3, B.1): fresh sequences at every step, Adam, cross-entropy; a block of seeds at once.

S seeds, B sequences a batch. The sequence of lengths is shared by all seeds, and nothing else is.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from vanishing_variance import checkpoints, parallel
from vanishing_variance.device import device
from vanishing_variance.errors import DivergedError
from vanishing_variance.kernels.adam import Adam, adam
from vanishing_variance.model.initialisation import draw
from vanishing_variance.model.network import Network, Weights
from vanishing_variance.model.sparse import touched_rows
from vanishing_variance.model.variant import Variant
from vanishing_variance.parallel import Report
from vanishing_variance.params.experiment import Training
from vanishing_variance.params.ranges import Range
from vanishing_variance.progress import Found, Progress
from vanishing_variance.seeding import stream
from vanishing_variance.tasks.base import Task, TaskTraining

# Sequences are drawn for this many steps at a time, from a stream of their own for each seed: a generator call a step
# and seed would cost more than the step. Whole draws are always made, so a longer run begins as a shorter one does
# (unless lengths grow, whose growth a longer run stretches).
STEPS_PER_DRAW = 256
# The loss is recorded as its mean over this many steps.
STEPS_PER_RECORD = 100


@dataclass(frozen=True)
class Plan:
    """All that a training depends on, apart from the seeds. Names and parameters only, so it can be sent elsewhere."""

    name: str
    root: int
    range_name: str
    lengths: Range
    variant: Variant
    optimiser: Training
    schedule: TaskTraining


def train_block(
    plan: Plan, seeds: Sequence[int], kept: Path | None = None
) -> tuple[dict[str, np.ndarray], pd.DataFrame]:
    """Train a block of seeds: on a GPU as one ensemble, on a CPU in fixed chunks over the cores.

    Returns the weights by name, (S, ...) each, and the training losses: seed, step, loss (nats, the mean over the
    STEPS_PER_RECORD steps that end with `step`). A training that was cut off goes on from its checkpoints in the folder
    `kept`. Raises DivergedError.
    """
    size = plan.optimiser.seeds_per_process if device().type == "cpu" else len(seeds)
    chunks = [seeds[first : first + size] for first in range(0, len(seeds), size)]
    paths = [None] * len(chunks) if kept is None else _checkpoints(plan, chunks, kept)
    jobs = [partial(_train_chunk, plan, chunk, path) for chunk, path in zip(chunks, paths, strict=True)]
    with Progress(f"train {plan.name}", plan.schedule.steps * len(seeds), "seed-steps") as progress:
        trained = parallel.run(jobs, progress)
    weights = {name: np.concatenate([of[name] for of, _ in trained]) for name in trained[0][0]}
    history = np.concatenate([history for _, history in trained], axis=1)
    records = np.minimum((np.arange(len(history)) + 1) * STEPS_PER_RECORD, plan.schedule.steps)
    columns = {
        "seed": np.repeat(seeds, len(records)),
        "step": np.tile(records, len(seeds)),
        "loss": history.T.ravel(),
    }
    return weights, pd.DataFrame(columns)


def _checkpoints(plan: Plan, chunks: Sequence[Sequence[int]], folder: Path) -> list[Path]:
    """Where the chunks' checkpoints are; a line says when there are others, which are left alone."""
    plan.variant.network()  # whose modules are part of the code
    paths = [folder / f"{chunk[0]}-{checkpoints.fingerprint(plan, chunk)}.safetensors" for chunk in chunks]
    others = checkpoints.others(folder, paths)
    if others:
        print(f"train {plan.name}: {folder} has {len(others)} checkpoints of other parameters or code", file=sys.stderr)
    return paths


def _train_chunk(
    plan: Plan, seeds: Sequence[int], kept: Path | None, report: Report
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The weights of some seeds, and their losses (records, S)."""
    how = plan.variant.initial(plan.schedule)
    drawn = draw(how, plan.root, plan.variant.task_name, seeds)
    weights = {name: tensor.to(device()) for name, tensor in drawn.items()}
    history = train(plan, weights, seeds, report, kept)
    return _arrays(weights), history


def train(
    plan: Plan,
    weights: dict[str, Tensor],
    seeds: Sequence[int],
    report: Report = lambda done: None,
    kept: Path | None = None,
) -> np.ndarray:
    """Train `weights`, in place, by Adam with decoupled decay, on fresh sequences at every step.

    Returns the losses (records, S) in nats, float32. `report` is called with the seed-steps made since its last call.
    With the checkpoint `kept` it goes on from there and writes it now and then. Raises DivergedError, which names the
    first step and seed whose loss is not finite, or a weight that is not finite at the end: no seed is ever dropped.
    """
    network, steps = plan.variant.network(), plan.schedule.steps
    for tensor in weights.values():
        tensor.requires_grad_()
    rate, decay = plan.optimiser.learning_rate, plan.optimiser.weight_decay
    readers = network.inputs.SPARSE_TABLES
    sizes = {name: weights[name].shape[1] for name in readers}
    optimiser = adam(weights, readers, rate, decay, steps)
    history = np.full((steps, len(seeds)), np.nan, np.float32)
    made = 0 if kept is None else _resume(kept, weights, optimiser, history)
    report(Found(made * len(seeds)))
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
            checkpoints.save(kept, _arrays(_state(weights, optimiser, history)), made, steps)
            saved = time.monotonic()
    optimiser.finish()
    for name, tensor in weights.items():
        tensor.requires_grad_(False)
        bad = (~torch.isfinite(tensor.flatten(1))).any(1).nonzero()
        if len(bad):
            seed = seeds[int(bad[0])]
            raise DivergedError(f"train {plan.name}: {name} of seed {seed} is not finite after the last step")
    if kept is not None:  # until the whole block is written and recorded
        checkpoints.save(kept, _arrays(_state(weights, optimiser, history)), steps, steps)
    return np.stack([history[first : first + STEPS_PER_RECORD].mean(0) for first in range(0, steps, STEPS_PER_RECORD)])


def _resume(kept: Path, weights: Weights, optimiser: Adam, history: np.ndarray) -> int:
    """Make all as it was when the checkpoint was written, if there is one; returns how many steps had been made."""
    state = _state(weights, optimiser, history)
    found = checkpoints.load(kept, _arrays(state))
    if found is None:
        return 0
    arrays, made = found
    for name, tensor in state.items():
        tensor.copy_(torch.from_numpy(arrays[name]))
    optimiser.resume(made)
    return made


def _state(weights: Weights, optimiser: Adam, history: np.ndarray) -> dict[str, Tensor]:
    """All that a step changes, as it is now, by name. Sequences are drawn from named streams, which have no state."""
    return {
        "history": torch.from_numpy(history),
        **{f"weights.{name}": tensor.detach() for name, tensor in weights.items()},
        **{f"optimiser.{name}": tensor for name, tensor in optimiser.state().items()},
    }


def _arrays(tensors: Weights) -> dict[str, np.ndarray]:
    return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}


def _finite(plan: Plan, seeds: Sequence[int], losses: np.ndarray, made: int) -> np.ndarray:
    """The losses (steps, S) of the steps after the first `made`. Raises DivergedError."""
    if not np.isfinite(losses).all():
        step, seed = np.argwhere(~np.isfinite(losses))[0]
        loss, when = losses[step, seed], made + int(step) + 1
        raise DivergedError(f"train {plan.name}: the loss of seed {seeds[seed]} is {loss} at step {when}")
    return losses


def losses(network: Network, weights: Weights, batch: Weights, labels: Tensor) -> Tensor:
    """Return each sequence's cross-entropy in nats, (S, B)."""
    logits = network(weights, batch)
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels)


def lengths(plan: Plan, number: int) -> np.ndarray:
    """The lengths of the steps of one draw (`number`, from 0), the same for all seeds: (STEPS_PER_DRAW,).

    Uniform up to `longest`, or where the range grows, up to what it has grown to at each step (B.2).
    """
    rng = stream(plan.root, "lengths", plan.variant.task_name, plan.range_name, number)
    shortest, growth = plan.lengths.shortest, plan.lengths.growth
    if growth is None:
        return rng.integers(shortest, plan.lengths.longest, endpoint=True, size=STEPS_PER_DRAW)
    steps = number * STEPS_PER_DRAW + np.arange(STEPS_PER_DRAW)
    grown = np.minimum(steps / (growth.until * plan.schedule.steps), 1)
    if growth.shape == "linear":
        longest = growth.start + grown * (plan.lengths.longest - growth.start)
    else:
        longest = growth.start * (plan.lengths.longest / growth.start) ** grown
    # rounded before its floor is taken: 16 * (256 / 16)^1 must not be 255.99999999999997
    choices = np.floor(longest.round(6)) - shortest + 1
    above: np.ndarray = (rng.random(STEPS_PER_DRAW) * choices).astype(np.int64)
    return shortest + above


def batches(plan: Plan, seeds: Sequence[int], made: int = 0) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
    """Endless training batches, but the first `made`: arrays by name, (S, B, ...) each, and labels (S, B)."""
    for number in count(made // STEPS_PER_DRAW):
        name = ("train", plan.variant.task_name, plan.range_name)
        streams = [stream(plan.root, *name, seed, number) for seed in seeds]
        steps = lengths(plan, number)
        unused = {
            length: _draw(plan, streams, length, often)
            for length, often in zip(*(of.tolist() for of in np.unique(steps, return_counts=True)), strict=True)
        }
        drawn = (next(unused[length]) for length in steps.tolist())
        yield from islice(drawn, max(0, made - number * STEPS_PER_DRAW), None)


def _draw(
    plan: Plan, streams: list[np.random.Generator], length: int, steps: int
) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
    """`steps` batches of one length, each seed's from its own stream."""
    size = plan.optimiser.batch_size
    arrays, labels = _drawn(plan.variant.task, streams, length, steps * size)
    for first in range(0, steps * size, size):
        part = np.s_[:, first : first + size]
        batch = {name: torch.from_numpy(array[part]) for name, array in arrays.items()}
        yield batch, torch.from_numpy(labels[part])


def _drawn(
    task: Task, streams: list[np.random.Generator], length: int, sequences: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Each seed's sequences, (S, sequences, ...) by name, and labels; a second copy is there of one seed's alone."""
    arrays: dict[str, np.ndarray] = {}
    labels = np.empty((len(streams), sequences), np.int64)
    for seed, rng in enumerate(streams):
        one = task.sample(rng, sequences, length)
        if seed == 0:
            arrays = {name: np.empty((len(streams), *array.shape), array.dtype) for name, array in one.items()}
        for name, together in arrays.items():
            together[seed] = one[name]
        labels[seed] = task.label(one)
        del one  # before the next seed's are drawn
    return arrays, labels
