"""The paper's network, written as Section 2 writes it, keys and values for every item: the oracle of the fast engine.

B sequences, N items, D width, F and G features of an item and of the query, C classes, H heads, d = D / H.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vanishing_variance.engine import registry
from vanishing_variance.engine.interfaces import Rescaled, Weighting, of_heads
from vanishing_variance.networks import Layer, MakeNorm, Sizes


class Network(nn.Module):
    """Attn(X, y) = norm(map(q K^T / sqrt(d)) V) W_O for one query, then an MLP to the classes.

    With several heads O = map(q K^T / sqrt(d)) V is made of each head's, side by side; d = D / heads is a head's width.
    Without sqrt(d) where logits are not scaled, and without W_O where there is no output projection. The options are
    the section `model` of params.yaml, and `attention`.
    """

    def __init__(
        self,
        sizes: Sizes,
        norm: MakeNorm,
        *,
        width: int = 128,
        heads: int = 1,
        attention_biases: bool = True,
        scaled_logits: bool = True,
        output_projection: bool = True,
        projection: Literal["mlp", "direct"] = "mlp",
        attention: str | Rescaled | Weighting = "softmax",
    ) -> None:
        super().__init__()
        self.head_width, self.scaled_logits = width // heads, scaled_logits
        chosen: Any = registry.load("attentions", attention) if isinstance(attention, str) else attention
        # what is used of it: a module of Python's cannot be copied
        names = ("LEARNABLE", "OF_HEADS", "scale", "weights")
        used = {name: getattr(chosen, name) for name in names if hasattr(chosen, name)}
        self.map: Any = SimpleNamespace(**used)

        self.item: nn.Module = nn.Identity()
        self.query: nn.Module = nn.Identity()
        item_features, query_features = sizes.items, sizes.query
        if projection == "mlp":
            self.item = mlp(item_features, width, width)
            self.query = mlp(query_features, width, width)
            item_features = query_features = width

        output = nn.Linear(width, width, bias=attention_biases) if output_projection else nn.Identity()
        projections = {
            "query": nn.Linear(query_features, width, bias=attention_biases),
            "key": nn.Linear(item_features, width, bias=False),
            "value": nn.Linear(item_features, width, bias=attention_biases),
            "output": output,
        }
        self.attention = nn.ModuleDict(projections)
        self.map_parameters = nn.Module()
        for name, value in self.map.LEARNABLE.items():
            self.map_parameters._parameters[name] = nn.Parameter(torch.full((1, 1, 1), float(value)))
        for name, value in of_heads(self.map).items():
            self.map_parameters._parameters[name] = nn.Parameter(torch.full((1, heads, 1), float(value)))
        self.norm = norm(width)
        self.head = mlp(width, width, sizes.classes)

    def forward(self, items: Float[Tensor, "B N F"], query: Float[Tensor, "B G"]) -> Float[Tensor, "B C"]:
        """Return the class logits of a batch of sequences."""
        heads = self.inside(items, query)[0].outputs
        normalised = self.norm(heads.flatten(1))
        projected = self.attention["output"](normalised)
        class_logits: Tensor = self.head(projected)
        return class_logits

    def inside(self, items: Float[Tensor, "B N F"], query: Float[Tensor, "B G"]) -> list[Layer]:
        """Return the attention weights of the items, and O of each head, of the one layer."""
        items, query = self.item(items), self.query(query)
        queries = self.attention["query"](query).split(self.head_width, dim=-1)
        keys = self.attention["key"](items).split(self.head_width, dim=-1)
        values = self.attention["value"](items).split(self.head_width, dim=-1)

        logits = []
        for q, k in zip(queries, keys, strict=True):
            of_head = torch.einsum("bd,bnd->bn", q, k)
            logits.append(of_head / self.head_width**0.5 if self.scaled_logits else of_head)
        weights = self.weights([self.rescaled(of_head, head) for head, of_head in enumerate(logits)])
        outputs = [torch.einsum("bn,bnd->bd", *of_head) for of_head in zip(weights, values, strict=True)]
        return [Layer(torch.stack(weights, dim=1), torch.stack(outputs, dim=1))]

    def rescaled(self, logits: Float[Tensor, "B N"], head: int) -> Float[Tensor, "B N"]:
        """Return the logits of a head times the factor of the map, of one that has a factor."""
        if not isinstance(self.map, Rescaled):
            return logits
        factor = self.map.scale(logits.shape[-1], self.parameters_of(head))
        return (logits.unsqueeze(0) * factor).squeeze(0)

    def weights(self, rescaled: Sequence[Float[Tensor, "B N"]]) -> list[Float[Tensor, "B N"]]:
        """Return the attention weights of each head by the map, as of an ensemble of one seed."""
        if isinstance(self.map, Rescaled):
            return [torch.softmax(logits, dim=-1) for logits in rescaled]
        by_head = enumerate(rescaled)
        return [self.map.weights(logits.unsqueeze(0), self.parameters_of(head)).squeeze(0) for head, logits in by_head]

    def parameters_of(self, head: int) -> dict[str, Tensor]:
        """Return the parameters of the map for one of its heads."""
        parameters: dict[str, Tensor] = dict(self.map_parameters.named_parameters())
        return parameters | {name: parameters[name][:, head : head + 1] for name in of_heads(self.map)}


def state_of_seed(weights: Mapping[str, Float[Tensor, "S ..."]], seed: int) -> dict[str, Tensor]:
    """Return the weights of one seed of the fast engine's ensemble, as the state of a `plain.model.PlainModel`."""
    named = {}
    for name, tensor in weights.items():
        group, _, part = name.partition(".")
        of_seed = tensor[seed]
        if group == "embedding":
            named[f"features.{part}.weight"] = of_seed
        elif group == "map":
            named[f"network.map_parameters.{part}"] = of_seed.view(1, -1, 1)
        elif group == "attention" and not part.endswith("bias"):
            named[f"network.{name}.weight"] = of_seed
        else:
            named[f"network.{name}"] = of_seed
    return named


def mlp(inputs: int, width: int, outputs: int) -> nn.Sequential:
    """Return two linear layers with one GELU between them and none after."""
    return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, outputs))
