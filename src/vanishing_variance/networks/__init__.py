"""Networks by name, a file each with a class `Network`, and the interface of one: any `nn.Module` will do.

    Network(sizes, norm, *, <options with defaults>), or Network(sizes, norm, attention, *, <options with defaults>)
    forward(items (B, N, F), query (B, G)) -> class logits (B, C)
    inside(items, query) -> [Layer(weights (B, H, N), outputs (B, H, d)), ...], optional

All that calls change is in parameters and buffers, in place, and random numbers are torch's: a step of training is
known by the state before it and its noise, and so is an answer.

`inside` returns, for each layer and at the place from which the answer is read, the attention to the N items, and O of
each head before any normaliser. Where there is none, what is inside the models is not measured.

`norm(width)` is a normaliser, and `attention(heads)` an `AttentionMap`, from logits to attention weights. The rules of
a test that change attention replace these weights; of a network without `attention` they are not measured.

B sequences, N items, F and G features of an item and of the query, C classes, H heads, d features of a head.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vanishing_variance.engine.interfaces import Normaliser, Rescaled, Weighting, of_heads

# Functions of the width of what is normalised, and of the number of heads.
MakeNorm = Callable[[int], nn.Module]
MakeAttention = Callable[[int], "AttentionMap"]


@dataclass(frozen=True)
class Sizes:
    """The task's sizes: features of an item (F) and of the query (G), and classes (C)."""

    items: int
    query: int
    classes: int


@dataclass(frozen=True)
class Layer:
    """The inside of one layer: attention to the items, and O of each head before any normaliser."""

    weights: Float[Tensor, "B H N"]
    outputs: Float[Tensor, "B H d"]


class NormModule(nn.Module):
    """A normaliser of norms/ as a module, of outputs of one width."""

    def __init__(self, norm: Normaliser, epsilon: float, width: int) -> None:
        super().__init__()
        # the function alone: a module of Python's cannot be copied
        self.normalise, self.epsilon, self.width = norm.normalise, epsilon, width
        for name, value in norm.LEARNABLE.items():
            # so that it may have any name: an attribute might be taken, such as `epsilon`
            self._parameters[name] = nn.Parameter(torch.full((width,), float(value)))

    def forward(self, outputs: Float[Tensor, "*any D"]) -> Float[Tensor, "*any D"]:
        """Return the normalised outputs."""
        copy = outputs.clone()  # the normaliser may write in place
        normalised: Tensor = self.normalise(copy, dict(self.named_parameters()), self.epsilon)
        return normalised


class AttentionMap(nn.Module):
    """An attention map of attentions/ as a module, of so many `heads`.

    `rule`: a function of rescaled logits, whose weights a test has instead; in training there is none.
    """

    rule: Callable[[Tensor], Tensor] | None = None

    def __init__(self, attention: Rescaled | Weighting, heads: int) -> None:
        super().__init__()
        # what is used of it: a module of Python's cannot be copied
        names = ("LEARNABLE", "OF_HEADS", "scale", "weights")
        used = {name: getattr(attention, name) for name in names if hasattr(attention, name)}
        self.map: Any = SimpleNamespace(**used)
        self.heads, self.is_softmax = heads, isinstance(attention, Rescaled)
        for name, value in self.map.LEARNABLE.items():
            self._parameters[name] = nn.Parameter(torch.full((1,), float(value)))
        for name, value in of_heads(self.map).items():
            self._parameters[name] = nn.Parameter(torch.full((heads,), float(value)))

    def forward(self, logits: Float[Tensor, "B H *Q N"]) -> Float[Tensor, "B H *Q N"]:
        """Return the attention weights of the items. Raises ValueError for logits of other heads."""
        if logits.dim() < 3 or logits.shape[1] != self.heads:
            expected = f"(sequences, {self.heads}, ..., items), of {self.heads} heads"
            raise ValueError(f"attention: logits are {tuple(logits.shape)}; must be {expected}")
        return self.weights(self.rescaled(logits, logits.shape[-1]))

    def rescaled(self, x: Float[Tensor, "B H *Q _"], items: int) -> Float[Tensor, "B H *Q _"]:
        """Return logits of so many items, or the queries that they are products of, times the factor of the map."""
        if not self.is_softmax:
            return x
        parameters = {name: tensor.view(1, -1, 1) for name, tensor in self.named_parameters()}
        factor = self.map.scale(items, parameters)
        return x * (factor.view(-1, *[1] * (x.dim() - 2)) if isinstance(factor, Tensor) else factor)

    def weights(self, rescaled: Float[Tensor, "B H *Q N"]) -> Float[Tensor, "B H *Q N"]:
        """Return the attention weights, by the rule of a test where there is one."""
        return self.of_map(rescaled) if self.rule is None else self.rule(rescaled)

    def of_map(self, rescaled: Float[Tensor, "B H *Q N"]) -> Float[Tensor, "B H *Q N"]:
        """Return the attention weights of the map itself."""
        if self.is_softmax:
            return torch.softmax(rescaled, dim=-1)
        of_heads_last = rescaled.movedim(1, -2)  # rows in the order of the fast engine, the heads one after another
        copy = of_heads_last.clone(memory_format=torch.contiguous_format)  # the map may write in place
        by_row = copy.view(1, -1, rescaled.shape[-1])
        weights: Tensor = self.map.weights(by_row, self._of_rows(of_heads_last.shape[:-1]))
        return weights.reshape(of_heads_last.shape).movedim(-2, 1).contiguous()

    def _of_rows(self, shape: tuple[int, ...]) -> dict[str, Float[Tensor, "1 _ 1"]]:
        """Return the learned numbers, and those of each head for each row (B, *Q, H)."""
        learned = {}
        for name, tensor in self.named_parameters():
            rows = tensor.expand(shape) if name in of_heads(self.map) else tensor
            learned[name] = rows.reshape(1, -1, 1)
        return learned
