"""The rows that measuring interventions gives, as they are collected.

S seeds, B sequences.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vanishing_variance.interventions.parts import Batch, flattened
from vanishing_variance.interventions.reader import Reader
from vanishing_variance.study.readings import BETAS, counted


@dataclass(frozen=True)
class Rows:
    """Of the models of some seeds: `accuracies`, and `counts` of right answers by the target's weight.

    `names`: the columns that all rows share.
    """

    names: Mapping[str, str]
    seeds: Sequence[int]
    accuracies: list[dict[str, Any]] = field(default_factory=list)
    counts: list[dict[str, Any]] = field(default_factory=list)

    def add(self, norm: str, length: int, found: Iterable[tuple[str, str, Bool[Tensor, "S B"]]]) -> None:
        """Add an accuracy a seed of every intervention: its name, where it acts, and which answers are right."""
        for name, where, correct in found:
            about = {**self.names, "norm": norm, "length": length, "intervention": name, "where": where}
            means = [round(mean, 6) for mean in correct.double().mean(1).tolist()]
            self.accuracies.extend(
                {**about, "seed": seed, "accuracy": mean} for seed, mean in zip(self.seeds, means, strict=True)
            )

    def count(
        self, norm: str, sample: str, length: int, weight: Float[Tensor, "S B"], correct: Bool[Tensor, "S B"]
    ) -> None:
        """Add how many answers are right, by the target's weight."""
        about = {**self.names, "norm": norm, "sample": sample, "length": length}
        of_seeds = counted(self.seeds, weight.cpu().numpy(), correct.cpu().numpy())
        self.counts.extend(about | row for row in of_seeds)

    def flatten(self, norm: str, reader: Reader, batches: Sequence[Batch]) -> None:
        """Count the right answers to sequences with their logits times each of BETAS."""
        labels = torch.cat([torch.from_numpy(reader.models.task.label(part)) for part in batches])
        for beta in BETAS:
            flat = [flattened(reader.models, part, beta) for part in batches]
            weight, context = (torch.cat(of, 1) for of in zip(*flat, strict=True))
            self.count(norm, "flattened", 0, weight, reader.correct(context, labels.to(context.device)))
