"""Differential attention (Ye et al. 2024, arXiv:2410.05258) in the paper's network, beyond the paper.

w = softmax(z_1) - lambda softmax(z_2), z_i of a half of the features of query and key, and lambda learned. Weights may
be negative, and sum to 1 - lambda. The publication makes lambda of four vectors, exp(a . b) - exp(c . d) + 0.2 in its
first layer, near 0.2 at first; here it is one number, 0.2 at first. What comes after O, the publication's normaliser a
head and the factor 0.8, is left to the normaliser of the study.

B sequences, N items, F and G features of an item and of the query, D width.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vanishing_variance.networks import Layer, MakeNorm, Sizes, paper


class Network(paper.Network):
    """The paper's network with two softmaxes, each of D / 2 features, and the values of one head."""

    def __init__(
        self,
        sizes: Sizes,
        norm: MakeNorm,
        *,
        width: int = 128,
        attention_biases: bool = True,
        projection: Literal["mlp", "direct"] = "mlp",
    ) -> None:
        super().__init__(sizes, norm, width=width, heads=2, attention_biases=attention_biases, projection=projection)
        self.subtracted = nn.Parameter(torch.tensor(0.2))  # lambda

    def inside(self, items: Float[Tensor, "B N F"], query: Float[Tensor, "B G"]) -> list[Layer]:
        """Return the weights w of the items, and O."""
        items, query = self.item(items), self.query(query)
        queries = self.attention["query"](query).unflatten(-1, (2, -1))
        keys = self.attention["key"](items).unflatten(-1, (2, -1))
        logits = torch.einsum("bhd,bnhd->bhn", queries, keys) / self.head_width**0.5
        first, second = logits.softmax(dim=-1).unbind(1)
        weights = first - self.subtracted * second
        outputs = torch.einsum("bn,bnd->bd", weights, self.attention["value"](items))
        return [Layer(weights.unsqueeze(1), outputs.unsqueeze(1))]
