"""The training loop of the plain engine: torch's AdamW on the cross-entropy, steps and records as the fast engine's.

S seeds.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from vanishing_variance.engine.adam import TorchAdam, learning_rates
from vanishing_variance.engine.ahead import training_batches
from vanishing_variance.engine.checkpoints import Checkpoint
from vanishing_variance.engine.device import device
from vanishing_variance.engine.graphs import on_device
from vanishing_variance.engine.loop import STEPS_PER_RECORD, check_losses, check_weights, mean_losses, training_state
from vanishing_variance.engine.other_weights import OtherWeights
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.parallel import Report
from vanishing_variance.plain.ensemble import Ensemble, Single, Stacked
from vanishing_variance.plain.plan import PlainPlan


def train(
    plan: PlainPlan, ensemble: Ensemble, seeds: Sequence[int], report: Report, checkpoint_path: Path | None
) -> tuple[np.ndarray, dict[str, dict[str, Tensor]]]:
    """Train an ensemble in place; return its losses (records, S) in nats, and the weights kept beside the last ones.

    As `engine.loop.train`. Raises DivergedError, which names the first step and seed whose loss is not finite, or a
    weight that is not finite at the end.
    """
    training, steps = plan.training, plan.steps
    optimiser = TorchAdam(ensemble.parameters, (), learning_rates(training, steps), training.weight_decay)
    others = OtherWeights(training, steps, ensemble.weights)
    history = torch.full((steps, len(seeds)), torch.nan, device=device())
    state_after = partial(training_state, ensemble.weights, optimiser, others, history)

    checkpoint = Checkpoint(checkpoint_path)
    completed = checkpoint.restore(state_after)
    optimiser.resume(completed)
    if completed:
        report(completed * len(seeds))

    # of what draws within a network while training, such as dropout: seeds that do are trained one after another
    noise = stream(plan.root_seed, "noise", plan.variant.task_name, plan.range_name, *seeds).integers(2**63, size=steps)

    def make_step(batch: dict[str, Tensor], labels: Tensor) -> Tensor:
        optimiser.read({})  # of no table a few rows; gradients to zero
        loss = ensemble.backward(batch, labels)
        optimiser.step()
        return loss

    # what torch.func takes decides nothing by its numbers, so every step is the same work
    step_on_device = on_device(make_step, recorded=isinstance(ensemble, Stacked))
    data = training_batches(plan, seeds, completed)
    for step in range(completed + 1, steps + 1):
        torch.manual_seed(int(noise[step - 1]))
        history[step - 1] = step_on_device(*next(data))
        if others.due(step):
            others.add(step, ensemble.weights)

        due = checkpoint.due()
        if due or step % STEPS_PER_RECORD == 0 or step == steps:
            check_losses(plan, seeds, history[:step])
            if isinstance(ensemble, Single):
                ensemble.check_bound()
            report((step - completed) * len(seeds))
            completed = step
        if due:
            checkpoint.save(state_after, completed)

    # a number of its own is a row, too
    rows = {name: tensor.reshape(len(tensor), -1) for name, tensor in ensemble.weights.items()}
    check_weights(plan, seeds, rows)
    checkpoint.save(state_after, steps)  # until the whole block is written
    return mean_losses(history.cpu().numpy()), others.means()
