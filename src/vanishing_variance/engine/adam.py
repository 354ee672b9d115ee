"""Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019) for an ensemble.

Compiled (`compiled_adam.py`) where that can be; else torch's fused AdamW steps everything as a whole.

S seeds, C rows of a table, F their width, R rows that a step reads.
"""

from collections.abc import Collection
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

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


@runtime_checkable
class Adam(Protocol):
    """Steps weights in place, each by its `.grad`; of some tables a step reads a few rows."""

    def read(self, rows: Rows) -> dict[str, Float[Tensor, "S R F"]]:
        """Return the rows that the next step reads, up to date and to be differentiated, by name of the table."""

    def step(self) -> None:
        """Make the step, after the backward pass."""

    def finish(self) -> None:
        """Bring every row up to date; steps may go on afterwards."""

    def state(self) -> dict[str, Tensor]:
        """Return all that later steps depend on beside weights and their number: by name, to be read or copied into."""

    def resume(self, made: int) -> None:
        """Go on after so many steps, those that `state` holds."""


def adam(weights: Weights, tables: Collection[str], rates: Rates, decay: float) -> Adam:
    """Return an Adam of `weights` for as many steps as `rates`; `tables` names those of which a step reads a few rows.

    `rates` are the learning rates of the steps, `decay` is decoupled: a step shrinks weights by rate times decay.
    """
    plain = all(of.device.type == "cpu" and of.dtype == torch.float32 and of.is_contiguous() for of in weights.values())
    kind = CompiledAdam if plain and library() is not None else TorchAdam
    return kind(weights, tables, rates, decay)


class TorchAdam:
    """torch's fused form; a table's gradient, allocated once, is 0 but for the rows that were read."""

    def __init__(self, weights: Weights, tables: Collection[str], rates: Rates, decay: float) -> None:
        self._weights, self._read = weights, dict[str, Tensor]()
        self._rates, self._made = rates.tolist(), 0
        self._tables = {name: weights[name] for name in tables}
        self._rows = {name: torch.empty(0, dtype=torch.long, device=of.device) for name, of in self._tables.items()}
        for table in self._tables.values():
            table.grad = torch.zeros_like(table)
        betas = (BETA1, BETA2)
        parameters = list(weights.values())
        self._adam = torch.optim.AdamW(parameters, betas=betas, eps=EPSILON, weight_decay=decay, fused=True)
        for tensor in parameters:  # as torch would at the first step; but `state` is asked for before
            averages = {name: torch.zeros_like(tensor, requires_grad=False) for name in ("exp_avg", "exp_avg_sq")}
            self._adam.state[tensor] = {"step": torch.zeros((), device=tensor.device), **averages}

    def read(self, rows: Rows) -> dict[str, Float[Tensor, "S R F"]]:
        """As `Adam.read`."""
        for name, tensor in self._weights.items():
            if name not in self._tables:
                tensor.grad = None
        for name, table in self._tables.items():
            _flat_gradient(table).index_fill_(0, self._rows[name], 0.0)
            seeds, classes, _ = table.shape
            offset = torch.arange(seeds, device=table.device).mul(classes).unsqueeze(1)
            self._rows[name] = (rows[name] + offset).flatten()
            read = table.detach().flatten(0, 1)[self._rows[name]].unflatten(0, rows[name].shape)
            self._read[name] = read.requires_grad_()
        return self._read

    def step(self) -> None:
        """As `Adam.step`."""
        for name, read in self._read.items():
            assert read.grad is not None
            _flat_gradient(self._tables[name]).index_add_(0, self._rows[name], read.grad.flatten(0, 1))
        self._adam.param_groups[0]["lr"] = self._rates[self._made]
        self._adam.step()
        self._made += 1

    def finish(self) -> None:
        """Do nothing: every row is up to date."""

    def state(self) -> dict[str, Tensor]:
        """As `Adam.state`."""
        parts = self._adam.state_dict()["state"]
        return {f"{place}.{part}": of for place, named in parts.items() for part, of in named.items()}

    def resume(self, made: int) -> None:
        """As `Adam.resume`."""
        self._made = made


def _flat_gradient(table: Float[Tensor, "S C F"]) -> Float[Tensor, "SC F"]:
    assert table.grad is not None
    return table.grad.flatten(0, 1)
