"""The workloads that are measured: training and evaluation at the study's sizes, with the parameters of params.yaml.

S seeds, B sequences, N items.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchmarks import ROOT
from vanishing_variance.engine.attend import attend
from vanishing_variance.engine.device import device
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import Run
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import Sequences
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.measure.inference.temperature import entropy
from vanishing_variance.params import changed

SHORTEST = 5
# The entropy of the attention in an evaluation: the adaptive temperature acts, so that its weights are computed, too.
NATS = 3.0
# Items that one forward pass of a plain model's evaluation holds: one sequence at 2^14.
ITEMS_IN_BATCH = 2**14


@dataclass(frozen=True)
class Workload:
    """`kind` is train or evaluate; `length` the longest training sequence, or that of all test sequences.

    `amount`: gradient steps, or test sequences. The treatment is `ln`, the paper's.
    """

    kind: str
    task: str
    length: int
    seeds: int
    amount: int

    def plan(self) -> TrainingPlan:
        """The training, of lengths 5 to `length`."""
        lengths = {"shortest": SHORTEST, "longest": max(SHORTEST, self.length)}
        changes = {"ranges.short": lengths, f"tasks.{self.task}.steps.short": self.amount}
        return TrainingPlan.of(changed(read_yaml(ROOT / "params.yaml"), changes), Run(self.task, "ln", 0, norm="ln"))

    def weights(self, seeds: list[int]) -> dict[str, Tensor]:
        """Initial weights, (S, ...) each; to be evaluated, with an attention as peaked as a trained model's.

        The speed of training does not depend on what was learned. That of evaluation does: where the entropy is so high
        that the adaptive temperature changes nothing, its weights are not computed.
        """
        plan = self.plan()
        drawn = draw(plan.variant.initial(plan.task_training), plan.root_seed, self.task, seeds)
        if self.kind == "evaluate":
            drawn["attention.query"] *= self._peaked(drawn).view(-1, 1, 1)
        return {name: tensor.to(device()) for name, tensor in drawn.items()}

    @torch.no_grad()
    def _peaked(self, weights: dict[str, Tensor]) -> Tensor:
        """The factors (S,) of the logits with which one sequence has the entropy `NATS`."""
        [sequence, *_] = self.sequences(1)
        network = self.plan().variant.network()
        batch = {name: torch.from_numpy(array)[None] for name, array in sequence.items()}
        logits, _ = attend(*network.encode(weights, batch, network.tables(weights)))
        low, high = torch.zeros(len(logits)), torch.full((len(logits),), 1e6)
        for _ in range(60):
            middle = (low + high) / 2
            flat = entropy(logits * middle.view(-1, 1, 1)).flatten() > NATS
            low, high = torch.where(flat, middle, low), torch.where(flat, high, middle)
        return low

    def sequences(self, size: int) -> Iterator[Sequences]:
        """The test sequences, `size` at a time."""
        rng = stream(0, "benchmark", self.task, self.length)
        return of_length(self.plan().variant.task, rng, self.amount, self.length, size)

    def test_batches(self) -> list[dict[str, Tensor]]:
        """The test sequences on the device, as many at a time as a forward pass of a plain model holds."""
        return [
            {name: torch.from_numpy(array).to(device()) for name, array in part.items()}
            for part in self.sequences(max(1, ITEMS_IN_BATCH // self.length))
        ]

    def batches(self, seeds: int) -> list[tuple[dict[str, Tensor], Tensor]]:
        """`amount` training batches, (S, B, ...), drawn beforehand: lengths evenly spread over the range."""
        plan = self.plan()
        task, size, made = plan.variant.task, plan.training.batch_size, []
        for length in np.linspace(SHORTEST, self.length, self.amount).round().astype(int).tolist():
            drawn = [task.sample(stream(0, "benchmark", seed, length), size, length) for seed in range(seeds)]
            arrays = {name: np.stack([one[name] for one in drawn]) for name in drawn[0]}
            labels = torch.from_numpy(np.stack([task.label(one) for one in drawn]))
            batch = {name: torch.from_numpy(array).to(device()) for name, array in arrays.items()}
            made.append((batch, labels.to(device())))
        return made
