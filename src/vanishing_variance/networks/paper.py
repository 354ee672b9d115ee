"""The paper's network, written as Section 2 writes it, keys and values for every item: the oracle of the fast engine.

B sequences, N items, D width, F and G features of an item and of the query, C classes, H heads, d = D / H.
"""

from collections.abc import Mapping
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vanishing_variance.networks import Layer, MakeAttention, MakeNorm, Sizes


class Network(nn.Module):
    """Attn(X, y) = norm(map(q K^T / sqrt(d)) V) W_O for one query, then an MLP to the classes.

    With several heads O = map(q K^T / sqrt(d)) V is made of each head's, side by side; d = D / heads is a head's width.
    Without sqrt(d) where logits are not scaled, and without W_O where there is no output projection. The options are
    the section `model` of params.yaml.
    """

    def __init__(
        self,
        sizes: Sizes,
        norm: MakeNorm,
        attention: MakeAttention,
        *,
        width: int = 128,
        heads: int = 1,
        attention_biases: bool = True,
        scaled_logits: bool = True,
        output_projection: bool = True,
        projection: Literal["mlp", "direct"] = "mlp",
    ) -> None:
        super().__init__()
        self.head_width, self.scaled_logits = width // heads, scaled_logits
        self.map = attention(heads)

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
        weights = self.map(torch.stack(logits, dim=1))
        outputs = [torch.einsum("bn,bnd->bd", w, v) for w, v in zip(weights.unbind(1), values, strict=True)]
        return [Layer(weights, torch.stack(outputs, dim=1))]


def state_of_seed(weights: Mapping[str, Float[Tensor, "S ..."]], seed: int) -> dict[str, Tensor]:
    """Return the weights of one seed of the fast engine's ensemble, as the state of a `plain.model.PlainModel`."""
    named = {}
    for name, tensor in weights.items():
        group, _, part = name.partition(".")
        of_seed = tensor[seed]
        if group == "embedding":
            named[f"features.{part}.weight"] = of_seed
        elif group == "attention" and not part.endswith("bias"):
            named[f"network.{name}.weight"] = of_seed
        else:
            named[f"network.{name}"] = of_seed
    return named


def mlp(inputs: int, width: int, outputs: int) -> nn.Sequential:
    """Return two linear layers with one GELU between them and none after."""
    return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, outputs))
