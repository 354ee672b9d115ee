"""Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019) for an ensemble.

Compiled (`compiled_adam.py`) where that can be; else torch's fused AdamW steps everything as a whole.

S seeds, C rows of a table, F their width, R rows that a step reads.
"""

from collections.abc import Collection

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.config import Training
from vanishing_variance.engine.kernels.compiled import in_single_on_cpu
from vanishing_variance.engine.kernels.compiled_adam import (
    BETA1,
    BETA2,
    EPSILON,
    CompiledAdam,
    Rates,
    Rows,
    Weights,
    library,
)
from vanishing_variance.engine.sparse import flat_rows


class TorchAdam:
    """torch's fused form. Steps weights in place, each by its `.grad`; of some tables a step reads a few rows.

    On a GPU the rates and the number of the step are there, so that a CUDA graph of a step can be replayed.
    """

    def __init__(self, weights: Weights, tables: Collection[str], rates: Rates, decay: float) -> None:
        self._weights = weights
        self._tables = {name: weights[name] for name in tables}
        where = next(iter(weights.values())).device
        self._on_gpu = where.type != "cpu"
        self._rates = rates.to(where, torch.float32 if self._on_gpu else torch.float64)
        self._completed = torch.zeros(1, dtype=torch.int64, device=where)
        self._adam = torch.optim.AdamW(
            weights.values(),
            lr=self._rates[:1].clone() if self._on_gpu else 0.0,
            betas=(BETA1, BETA2),
            eps=EPSILON,
            weight_decay=decay,
            fused=True,
            capturable=self._on_gpu,
        )
        for tensor in weights.values():  # as torch would at the first step; but `state` is asked for before
            self._adam.state[tensor] = {
                "step": tensor.new_zeros(()),
                "exp_avg": torch.zeros_like(tensor, requires_grad=False),
                "exp_avg_sq": torch.zeros_like(tensor, requires_grad=False),
            }

    def read(self, rows: Rows) -> dict[str, Float[Tensor, "S R F"]]:
        """Return the rows that the next step reads, up to date and to be differentiated, by name of the table."""
        self._adam.zero_grad()
        read = {}
        for name, table in self._tables.items():
            wanted = flat_rows(rows[name], table)
            read[name] = table.flatten(0, 1)[wanted]
        return read

    def step(self) -> None:
        """Make the step, after the backward pass; of what the batch did not use the gradient is 0."""
        for tensor in self._weights.values():
            if tensor.grad is None:
                tensor.grad = torch.zeros_like(tensor)
        [group] = self._adam.param_groups
        rate = self._rates[self._completed]
        if self._on_gpu:
            group["lr"].copy_(rate)
        else:
            group["lr"] = rate.item()
        self._adam.step()
        self._completed += 1

    def finish(self) -> None:
        """Bring every row up to date, as they always are here; steps may go on afterwards."""

    def snapshot(self) -> dict[str, Tensor]:
        """Return copies of the weights, every row up to date; no bit of a later step depends on this call."""
        return {name: tensor.detach().clone() for name, tensor in self._weights.items()}

    def state(self) -> dict[str, Tensor]:
        """Return all that later steps depend on beside weights and their number: by name, to be read or copied into."""
        state = {}
        for place, tensors in self._adam.state_dict()["state"].items():
            for name, tensor in tensors.items():
                state[f"{place}.{name}"] = tensor
        return state

    def resume(self, completed: int) -> None:
        """Go on after so many completed steps, those that `state` holds."""
        self._completed.fill_(completed)


Adam = TorchAdam | CompiledAdam


def adam(weights: Weights, tables: Collection[str], rates: Rates, decay: float) -> Adam:
    """Return an Adam of `weights` for as many steps as `rates`; `tables` names those of which a step reads a few rows.

    `rates` are the learning rates of the steps, `decay` is decoupled: a step shrinks weights by rate times decay.
    """
    tensors = weights.values()
    contiguous = all(tensor.is_contiguous() for tensor in tensors)
    if contiguous and in_single_on_cpu(*tensors) and library() is not None:
        return CompiledAdam(weights, tables, rates, decay)
    return TorchAdam(weights, tables, rates, decay)


def learning_rates(training: Training, steps: int) -> Rates:
    """Return the learning rate of each step: constant, or from `learning_rate` to 0 along half a cosine."""
    rates = torch.full((steps,), training.learning_rate, dtype=torch.float64)
    if training.decay == "cosine":
        angles = torch.pi * torch.arange(steps, dtype=torch.float64) / steps
        rates *= (1 + torch.cos(angles)) / 2
    return rates
