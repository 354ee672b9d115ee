"""The network of Section 2, every seed at once: the one definition of the forward pass.

    items -> item MLP -> keys, values \
                                       softmax(Q K^T / sqrt(d)) V = O -> normaliser -> W_O -> MLP -> label
    query -> query MLP -> query       /

S seeds, B sequences, H heads, N items, D width, d = D/H that of a head, C classes, F features, P features filled up
with zeros. Every weight has the seed as its first axis; a batch has it too, or 1 there where all seeds share the
sequences. Each head has d of the D features of Q, K and V: O is the heads' outputs side by side. To attention the heads
of a sequence are so many sequences of the same items, one after another: `BH` rows.

No key or value is ever formed. With h the item MLP's hidden layer, items are h W_2 + b_2, and the logits
(h W_2 + b_2) W_K . q equal h . (W_2 W_K q) up to a constant that softmax removes; and because the attention weights sum
to one, O = sum_n a_n (h_n W_2 + b_2) W_V = ((sum_n a_n h_n) W_2 + b_2) W_V. An attention map whose weights sum to
something else takes O's constant part as often; one that is not indifferent to the logits' constant is given it.

With `model.projection` = `direct` both MLPs are left out: h is the features themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from vanishing_variance.engine import initialisation
from vanishing_variance.engine.attend import attend, products, weighted_sum
from vanishing_variance.engine.config import Model
from vanishing_variance.engine.embedding import Embedding
from vanishing_variance.engine.initialisation import Initial
from vanishing_variance.engine.interfaces import Batch, Normaliser, Rescaled, Weighting, Weights, of_heads
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.linear import Linear, linear

# Features are filled up to a multiple of this, which compiled code works on at once.
LANES = 16


@dataclass(frozen=True)
class Network:
    """The architecture: how a task's items enter it, an attention map, and a normaliser."""

    embedding: Embedding
    attention: Rescaled | Weighting
    norm: Normaliser
    model: Model

    @property
    def rescaled(self) -> bool:
        """True where the attention map is a softmax of logits times a factor, which `encode` gives the folded query."""
        return isinstance(self.attention, Rescaled)

    def tables(self, weights: Weights) -> Weights:
        """Return what `encode` may look up instead of computing it for every occurrence of an item."""
        return self.embedding.tables(self._with_first_layer(weights))

    def encode(
        self, weights: Weights, batch: Batch, tables: Weights | None = None, length: int | None = None
    ) -> tuple[Items, Float[Tensor, "S BH P"]]:
        """Return the items of each head, and its query folded through W_Q, W_K and the item MLP.

        The product of a folded query with h_n is a logit: in a sequence of `length` items, by default of as many as
        there are, which an attention map may make something of.
        """
        items, features = self.embedding.embed(self._with_first_layer(weights), batch, tables)
        items = items.repeat(self.model.heads)
        layers = [self._projection(weights, "query")]
        if self.model.projection == "mlp":
            layers = [*self._mlp(weights, "query"), *layers]
        query = linear(features, *layers)
        query_by_head = query.unflatten(2, (self.model.heads, -1)).flatten(1, 2)
        through_key = self._by_head(query_by_head, self._key(weights))
        if self.model.projection == "direct":
            missing = items.embedding.shape[-1] - through_key.shape[-1]
            folded_query = pad(through_key, (0, missing))
            items = replace(items, gelu=False)
        else:
            folded_query = linear(through_key, Linear(weights["item.2.weight"], transposed=True))
            if not self.rescaled:
                shift = through_key * weights["item.2.bias"].unsqueeze(1)
                items = replace(items, shift=shift.sum(-1))
        if self.rescaled:
            factor = self.factor(weights, length or items.embedding_index.shape[2], folded_query.shape[1])
            folded_query = folded_query * factor
        return items, folded_query

    def factor(self, weights: Weights, length: int, rows: int = 1) -> Float[Tensor, "S _ 1"] | float:
        """Return what an attention map that is `rescaled` multiplies the logits of `length` items by, of BH `rows`."""
        assert isinstance(self.attention, Rescaled)
        return self.attention.scale(length, self._of_map(weights, rows))

    def context(
        self, weights: Weights, items: Items, folded_query: Float[Tensor, "S BH P"]
    ) -> tuple[Float[Tensor, "S BH P"], Float[Tensor, "S BH"] | None]:
        """Return the context (attention-weighted hidden layers), and the sum of the weights where it is not 1."""
        if self.rescaled:
            _, context = attend(items, folded_query)
            return context, None
        attention_weights = self.attention_weights(weights, products(items, folded_query))
        return weighted_sum(items, attention_weights), attention_weights.sum(-1)

    def attention_weights(self, weights: Weights, logits: Float[Tensor, "S BH N"]) -> Float[Tensor, "S BH N"]:
        """Return the attention weights of the items."""
        if isinstance(self.attention, Rescaled):
            return torch.softmax(logits, dim=-1)
        return self.attention.weights(logits, self._of_map(weights, logits.shape[1]))

    def outputs(
        self, weights: Weights, context: Float[Tensor, "S BH P"], total: Float[Tensor, "S BH"] | None = None
    ) -> Float[Tensor, "S B D"]:
        """Return the attention outputs O, before the normaliser, of contexts whose weights sum to `total`, or to 1."""
        heads = self.model.heads
        outputs: Tensor = self._values(weights, context).unflatten(1, (-1, heads))
        if total is not None:
            constant = self._values(weights, torch.zeros_like(context[:, :heads]))
            missing = (total - 1).unflatten(1, (-1, heads)).unsqueeze(-1)
            outputs = outputs + missing * constant.unsqueeze(1)
        return outputs.flatten(2)

    def normalise(self, weights: Weights, outputs: Float[Tensor, "S B D"]) -> Float[Tensor, "S B D"]:
        """Return the normalised attention outputs, which the layers above read."""
        parameters = {name: weights[f"norm.{name}"].unsqueeze(1) for name in self.norm.LEARNABLE}
        return self.norm.normalise(outputs, parameters, self.model.epsilon)

    def read_out(self, weights: Weights, normalised: Float[Tensor, "S B D"]) -> Float[Tensor, "S B C"]:
        """Return the class logits."""
        layers = self._mlp(weights, "head")
        if self.model.output_projection:
            layers = [self._projection(weights, "output"), *layers]
        return linear(normalised, *layers)

    def __call__(self, weights: Weights, batch: Batch) -> Float[Tensor, "S B C"]:
        """Return the class logits of a batch of sequences."""
        items, folded_query = self.encode(weights, batch)
        context, total = self.context(weights, items, folded_query)
        outputs = self.outputs(weights, context, total)
        return self.read_out(weights, self.normalise(weights, outputs))

    def _with_first_layer(self, weights: Weights) -> Weights:
        """Return the weights with the item MLP's first layer; that of `direct` copies the features."""
        if self.model.projection != "direct":
            return weights
        key = weights["attention.key"]
        seeds, _, num_features = key.shape
        padded = -(-num_features // LANES) * LANES
        copied = torch.eye(padded, num_features, dtype=key.dtype, device=key.device).expand(seeds, -1, -1)
        return {**weights, "item.0.weight": copied, "item.0.bias": key.new_zeros(seeds, padded)}

    def _of_map(self, weights: Weights, rows: int) -> dict[str, Float[Tensor, "S _ 1"]]:
        """Return the learned numbers of the attention map, and those of each head for each of the BH rows."""
        learned = {name: weights[f"map.{name}"].unsqueeze(1) for name in self.attention.LEARNABLE}
        for name in of_heads(self.attention):
            learned[name] = weights[f"map.{name}"].repeat(1, rows // self.model.heads).unsqueeze(2)
        return learned

    def _values(self, weights: Weights, context: Float[Tensor, "S BH P"]) -> Float[Tensor, "S BH d"]:
        """Return contexts through the item MLP's second layer and each head's rows of W_V."""
        if self.model.projection == "direct":
            num_features = weights["attention.value"].shape[-1]
            context = context[..., :num_features]
        else:
            context = linear(context, self._layer(weights, "item.2"))
        return self._by_head(context, self._projection(weights, "value"))

    def _by_head(self, x: Float[Tensor, "S BH _"], layer: Linear) -> Float[Tensor, "S BH _"]:
        """Return each head's `x` through its own rows of a layer: heads are multiplied as seeds are."""
        heads = self.model.heads
        weight = layer.weight.unflatten(1, (heads, -1)).flatten(0, 1)
        bias = layer.bias
        if bias is not None:
            bias = bias.unflatten(1, (heads, -1)).flatten(0, 1)
        of_heads = x.unflatten(1, (-1, heads)).transpose(1, 2).flatten(0, 1)
        through_layer = linear(of_heads, layer._replace(weight=weight, bias=bias))
        result: Tensor = through_layer.unflatten(0, (-1, heads)).transpose(1, 2).flatten(1, 2)
        return result

    def _key(self, weights: Weights) -> Linear:
        """Return W_K, transposed, over sqrt(d) where logits are scaled (`model.scaled_logits`)."""
        head_width = self.model.width // self.model.heads
        scale = head_width**-0.5 if self.model.scaled_logits else 1.0
        return Linear(weights["attention.key"] * scale, transposed=True)

    def _projection(self, weights: Weights, part: str) -> Linear:
        """Return W_Q, W_V or W_O."""
        return Linear(weights[f"attention.{part}"], weights.get(f"attention.{part}.bias"))

    def _mlp(self, weights: Weights, name: str) -> list[Linear]:
        """Return two linear layers with one GELU between them and none after."""
        return [self._layer(weights, f"{name}.0", gelu=True), self._layer(weights, f"{name}.2")]

    def _layer(self, weights: Weights, name: str, *, gelu: bool = False) -> Linear:
        return Linear(weights[f"{name}.weight"], weights[f"{name}.bias"], gelu)


def initial(network: Network, embedding: Mapping[str, Initial], num_classes: int) -> dict[str, Initial]:
    """Return how every tensor of one seed starts; `embedding`: those of the task's own layers."""
    model, width = network.model, network.model.width
    tensors = dict(embedding)
    inputs = {"query": width, "key": width, "value": width}
    if model.projection == "direct":
        inputs = {"query": embedding["query.0.weight"].shape[1]}
        inputs["key"] = inputs["value"] = embedding["item.0.weight"].shape[1]
        tensors = {name: tensor for name, tensor in embedding.items() if not name.startswith(("item.", "query."))}
    else:
        tensors |= initialisation.linear_layer("item.2", width, width)
        tensors |= initialisation.linear_layer("query.2", width, width)
    if model.output_projection:
        inputs["output"] = width
    for part, num_features in inputs.items():
        bound = num_features**-0.5
        tensors[f"attention.{part}"] = Initial((width, num_features), bound)
        if model.attention_biases and part != "key":
            tensors[f"attention.{part}.bias"] = Initial((width,), bound)
    for name, value in network.attention.LEARNABLE.items():
        tensors[f"map.{name}"] = Initial((1,), constant=value)
    for name, value in of_heads(network.attention).items():
        tensors[f"map.{name}"] = Initial((model.heads,), constant=value)
    for name, value in network.norm.LEARNABLE.items():
        tensors[f"norm.{name}"] = Initial((width,), constant=value)
    tensors |= initialisation.linear_layer("head.0", width, width)
    tensors |= initialisation.linear_layer("head.2", width, num_classes)
    return tensors
