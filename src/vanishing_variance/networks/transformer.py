"""A Transformer encoder of several layers that reads the items as a set, and answers from the query's token.

B sequences, N items, T = N + 1 tokens, F and G features of an item and of the query, D width, H heads, d = D / H,
Q tokens whose outputs are computed, C classes.
"""

from math import log
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize, pad, scaled_dot_product_attention

from vanishing_variance.networks import AttentionMap, Layer, MakeAttention, MakeNorm, Sizes
from vanishing_variance.networks.paper import mlp as mlp_of_paper

Place = Literal["outputs", "head", "projected"]
Gate = Literal["none", "elementwise", "headwise", "scale"]
Weights = Literal["softmax", "log", "l2", "cosine", "cosine-log"]
# Attention weights at a time, over heads and sequences, where they are kept.
WEIGHTS_AT_ONCE = 2**20


class Network(nn.Module):
    """Items and query as tokens without positions, layers of attention and an MLP, and a linear layer to the classes.

    `layers`, `heads` of attention, `width` D of the tokens, `mlp_ratio` times D the width of the MLP's hidden layer.
    `residual`: whether attention and MLP are added to what they read. `pre_norm`: torch's LayerNorm before each, and
    before the classes; or before the `layers` alone, or the `classes`; `post_norm`: after each addition instead. `mlp`:
    whether there are MLPs. As in nn.TransformerEncoderLayer with GELU, without dropout. `ends`: to the tokens and to
    the classes, linear layers or the paper's MLPs; with these, one layer, and without residual, `pre_norm` and `mlp`,
    it is the paper's network, but that the query's token has a key and a value. `norm_place`: what the normaliser
    reads, the `outputs` O of all heads side by side, those of each `head` (with the same learned numbers), or O
    `projected` by W_O. `gate` of O, `sink`, `weights` of attention: see `Attention`.
    """

    def __init__(
        self,
        sizes: Sizes,
        norm: MakeNorm,
        attention: MakeAttention,
        *,
        layers: int = 2,
        heads: int = 4,
        width: int = 64,
        mlp_ratio: float = 4.0,
        residual: bool = True,
        pre_norm: bool | Literal["layers", "classes"] = True,
        post_norm: bool = False,
        mlp: bool = True,
        ends: Literal["linear", "mlp"] = "linear",
        norm_place: Place = "outputs",
        gate: Gate = "none",
        sink: bool = False,
        weights: Weights = "softmax",
    ) -> None:
        super().__init__()
        if min(layers, heads) < 1 or width % heads:
            raise ValueError(f"heads must divide width, and layers be 1 or more: {heads=}, {width=}, {layers=}")
        if post_norm and pre_norm:
            raise ValueError(f"with post_norm, pre_norm must be false: {pre_norm=}")

        def end(inputs: int, outputs: int) -> nn.Module:
            return mlp_of_paper(inputs, width, outputs) if ends == "mlp" else nn.Linear(inputs, outputs)

        self.item, self.query = end(sizes.items, width), end(sizes.query, width)
        hidden = round(mlp_ratio * width) if mlp else 0
        if mlp and hidden < 1:
            raise ValueError(f"with mlp, mlp_ratio times width must be 1 or more: {mlp_ratio=}, {width=}")
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            layer = Attention(width, attention(heads), norm, norm_place, gate, weights, sink=sink)
            of_layers = post_norm or pre_norm in (True, "layers")
            self.blocks.append(Block(width, layer, hidden, residual=residual, norms=of_layers, after=post_norm))
        self.last_norm = nn.LayerNorm(width) if pre_norm in (True, "classes") else nn.Identity()
        self.head = end(width, sizes.classes)

    def forward(self, items: Float[Tensor, "B N F"], query: Float[Tensor, "B G"]) -> Float[Tensor, "B C"]:
        """Return the class logits, read from the query's token, of which alone the last layer computes the output."""
        tokens = self.tokens(items, query)
        for block in self.blocks[:-1]:
            tokens = block(tokens, tokens.shape[1])
        answer = self.blocks[-1](tokens, 1).squeeze(1)
        class_logits: Tensor = self.head(self.last_norm(answer))
        return class_logits

    def inside(self, items: Float[Tensor, "B N F"], query: Float[Tensor, "B G"]) -> list[Layer]:
        """Return each layer's attention of the query's token to the items, and O of each head."""
        tokens = self.tokens(items, query)
        layers = []
        for place, block in enumerate(self.blocks):
            assert isinstance(block, Block)
            if place:
                tokens = self.blocks[place - 1](tokens, tokens.shape[1])
            layers.append(block.inside(tokens))
        return layers

    def tokens(self, items: Float[Tensor, "B N F"], query: Float[Tensor, "B G"]) -> Float[Tensor, "B T D"]:
        """Return the first layer's tokens, the query's the last."""
        return torch.cat((self.item(items), self.query(query).unsqueeze(1)), dim=1)


class Block(nn.Module):
    """Attention, then an MLP where `hidden`, its width, is not 0; LayerNorms before each or, with `after`, after it."""

    def __init__(
        self, width: int, attention: "Attention", hidden: int, *, residual: bool, norms: bool, after: bool
    ) -> None:
        super().__init__()
        self.residual, self.attention, self.after = residual, attention, after
        self.norm1 = nn.LayerNorm(width) if norms else nn.Identity()
        self.norm2 = nn.LayerNorm(width) if norms and hidden else nn.Identity()
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)) if hidden else None

    def forward(self, tokens: Float[Tensor, "B T D"], last: int) -> Float[Tensor, "B Q D"]:
        """Return the outputs of the `last` Q tokens."""
        if self.after:
            x: Tensor = self.norm1(self._added(tokens[:, -last:], self.attention(tokens, last)))
            normed: Tensor = x if self.mlp is None else self.norm2(self._added(x, self.mlp(x)))
            return normed
        x = self._added(tokens[:, -last:], self.attention(self.norm1(tokens), last))
        return x if self.mlp is None else self._added(x, self.mlp(self.norm2(x)))

    def inside(self, tokens: Float[Tensor, "B T D"]) -> Layer:
        """Return attention and outputs of the last token."""
        return self.attention.inside(tokens if self.after else self.norm1(tokens))

    def _added(self, x: Float[Tensor, "B Q D"], change: Float[Tensor, "B Q D"]) -> Float[Tensor, "B Q D"]:
        return x + change if self.residual else change


class Attention(nn.Module):
    """W_O (norm(O) * sigmoid(W x)), O = map(q K^T / sqrt(d)) V of each head, bidirectional; the map is of T tokens.

    The gate is that of Qiu et al. (2025, arXiv:2505.06708, G1) and Qwen3-Next: Y' = Y * sigmoid(X W), of the hidden
    states x that the queries are made of, without a bias; a number for each feature of each head (`elementwise`) or for
    each head (`headwise`). A normaliser comes before it, as in Qwen3-Next's own gated norm. Instead of sigmoid(W x),
    `scale` has one learned number a head, at first 1 (HeadScale of NormFormer, Shleifer et al. 2021, arXiv:2110.09456).

    `sink`: a learned logit of each head, at first 0, that takes weight and gives no value, so that a head may attend to
    nothing (gpt-oss, OpenAI 2025, arXiv:2508.10925); the map has it as its last one.

    `weights`: `log` multiplies the logits by log T / log 16 (attentions/logn.py, which has no log 16). `l2` scales the
    map's weights, and the sink's, to length 1 (attentions/l2.py). `cosine`: q and K have length 1, and their products
    are multiplied by a learned number of each head instead of 1 / sqrt(d) (Henry et al. 2020, arXiv:2010.04245), at
    first 8, about the authors' log2(L^2 - L) for L = 16. `cosine-log`: by that times log T / log 16, since rivals at
    fixed distances from the target need a factor that grows as log T.
    """

    def __init__(
        self,
        width: int,
        attention: AttentionMap,
        norm: MakeNorm,
        norm_place: Place,
        gate: Gate,
        weights: Weights,
        *,
        sink: bool,
    ) -> None:
        super().__init__()
        heads = attention.heads
        self.map, self.heads, self.norm_place, self.weights = attention, heads, norm_place, weights
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.norm = norm(width // heads if norm_place == "head" else width)
        gates = {"elementwise": width, "headwise": heads}
        self.gate = nn.Linear(width, gates[gate], bias=False) if gate in gates else None
        self.scale = nn.Parameter(torch.ones(heads, 1)) if gate == "scale" else None
        self.sink = nn.Parameter(torch.zeros(heads, 1, 1)) if sink else None
        self.factor = nn.Parameter(torch.full((heads, 1, 1), 8.0)) if weights.startswith("cosine") else None

    def forward(self, tokens: Float[Tensor, "B T D"], last: int) -> Float[Tensor, "B Q D"]:
        """Return the attention outputs of the `last` Q tokens."""
        reading = tokens[:, -last:]
        queries, keys, values = self._by_head(tokens, last)
        outputs = self._outputs(queries, keys, values).transpose(1, 2)
        if self.norm_place == "head":
            outputs = self.norm(outputs)
        if self.norm_place == "outputs":
            outputs = self.norm(outputs.flatten(2)).unflatten(2, (self.heads, -1))
        if self.gate is not None:
            outputs = outputs * self.gate(reading).unflatten(2, (self.heads, -1)).sigmoid()
        if self.scale is not None:
            outputs = outputs * self.scale
        projected: Tensor = self.output(outputs.flatten(2))
        return self.norm(projected) if self.norm_place == "projected" else projected

    def inside(self, tokens: Float[Tensor, "B T D"]) -> Layer:
        """Return the last token's attention to the others, and O of each head."""
        queries, keys, values = self._by_head(tokens, 1)
        weights = self._weights(queries, keys)
        return Layer(weights[:, :, 0, :-1], (weights @ values).squeeze(2))

    def _weights(self, queries: Float[Tensor, "B H Q d"], keys: Float[Tensor, "B H T d"]) -> Float[Tensor, "B H Q T"]:
        """Return the weights of the tokens."""
        logits = queries @ keys.mT / queries.shape[-1] ** 0.5
        if self.sink is not None:
            logits = torch.cat((logits, self.sink.expand(len(logits), -1, logits.shape[2], -1)), dim=-1)
        weights = self.map.weights(logits)
        if self.weights == "l2":
            weights = normalize(weights, dim=-1)
        of_tokens: Tensor = weights[..., : keys.shape[2]]
        return of_tokens

    def _outputs(
        self, queries: Float[Tensor, "B H Q d"], keys: Float[Tensor, "B H T d"], values: Float[Tensor, "B H T d"]
    ) -> Float[Tensor, "B H Q d"]:
        """Return O: of a softmax by torch's own attention, which keeps no weights, else of some queries at a time."""
        if self.weights == "l2" or not self.map.is_softmax or self.map.rule is not None:
            size = max(1, WEIGHTS_AT_ONCE // keys.shape[:3].numel())
            return torch.cat([self._weights(part, keys) @ values for part in queries.split(size, dim=2)], dim=2)
        logits = None
        if self.sink is not None:  # one more token, of zeros
            logits = pad(self.sink, (keys.shape[2], 0))
            keys, values = pad(keys, (0, 0, 0, 1)), pad(values, (0, 0, 0, 1))
        return scaled_dot_product_attention(queries, keys, values, attn_mask=logits)

    def _by_head(self, tokens: Float[Tensor, "B T D"], last: int) -> list[Float[Tensor, "B H _ d"]]:
        """Return queries of the `last` tokens, and keys and values of all."""
        projected = self.query(tokens[:, -last:]), self.key(tokens), self.value(tokens)
        queries, keys, values = [x.unflatten(2, (self.heads, -1)).transpose(1, 2) for x in projected]
        growth = log(tokens.shape[1], 16) if self.weights.endswith("log") else 1.0
        if self.factor is not None:
            factor = growth * self.factor * queries.shape[-1] ** 0.5  # by which attention divides
            queries, keys = factor * normalize(queries, dim=-1), normalize(keys, dim=-1)
        elif growth != 1:
            queries = growth * queries
        return [self.map.rescaled(queries, tokens.shape[1]), keys, values]
