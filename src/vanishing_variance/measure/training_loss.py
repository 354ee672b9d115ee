"""Loss of trained models on fresh sequences of the training lengths, the same for all seeds, lines and steps.

S seeds, B sequences.
"""

from collections.abc import Mapping, Sequence

import pandas as pd
import torch

from vanishing_variance.engine.drawing import LABEL, draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.steps import losses
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import Sequences
from vanishing_variance.measure.inference.models import StoredWeights, to_device

# As many as in 200 batches of 128, about the same number of each length.
SEQUENCES = 25_600


def fresh_sequences(plan: TrainingPlan) -> dict[int, Sequences]:
    """Return sequences of each training length with their labels, as many of each, that no training has seen."""
    rng = stream(plan.root_seed, "loss", plan.variant.task_name, plan.range_name)
    lengths = range(plan.lengths.shortest, plan.lengths.longest + 1)
    task = plan.variant.task
    by_length = {}
    for length in lengths:
        by_length[length] = draw(task, rng, -(-SEQUENCES // len(lengths)), length)
    return by_length


@torch.no_grad()
def training_losses(plan: TrainingPlan, seeds: Sequence[int], weights: Mapping[str, StoredWeights]) -> pd.DataFrame:
    """Return the loss of every model in nats, the mean over lengths: seed, rule, loss.

    `weights`, (S, ...) each, by rule: `last`, the last ones, and those kept beside them.
    """
    torch.set_num_threads(1)  # several would spin beside other stages
    frames = []
    network = plan.variant.network()
    for rule, of_rule in weights.items():
        tensors = {name: to_device(array) for name, array in of_rule.items()}
        by_length = []
        for sequences in fresh_sequences(plan).values():
            batch = {name: to_device(array).unsqueeze(0) for name, array in sequences.items()}
            labels = batch.pop(LABEL).expand(len(seeds), -1)
            by_length.append(losses(network, tensors, batch, labels).mean(1))
        means = torch.stack(by_length).double().mean(0).cpu().numpy()
        frames.append(pd.DataFrame({"seed": seeds, "rule": rule, "loss": means}))
    return pd.concat(frames, ignore_index=True)
