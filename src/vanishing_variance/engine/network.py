"""The network of Section 2, every seed at once: the one definition of the forward pass.

    items -> item MLP -> keys, values \
                                       softmax(Q K^T / sqrt(D)) V = O -> normaliser -> W_O -> MLP -> label
    query -> query MLP -> query       /

S seeds, B sequences, N items, D width, C classes, F features, P features filled up with zeros. Every weight has the
seed as its first axis; a batch has it too, or 1 there where all seeds share the sequences.

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
from vanishing_variance.engine.initialisation import Initial
from vanishing_variance.engine.interfaces import Batch, Embedding, Normaliser, Rescaled, Weighting, Weights
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
        self, weights: Weights, batch: Batch, tables: Weights | None = None
    ) -> tuple[Items, Float[Tensor, "S B P"]]:
        """Return the items, and the query folded through W_Q, W_K and the item MLP: its product with h_n is a logit."""
        items, query = self.embedding.embed(self._with_first_layer(weights), batch, tables)
        project, key = self._projection(weights, "query"), self._key(weights)
        if self.model.projection == "direct":
            through_key = linear(query, project, key)
            missing = items.embedding.shape[-1] - through_key.shape[-1]
            folded_query = pad(through_key, (0, missing))
            items = replace(items, gelu=False)
        else:
            through_key = linear(query, *self._mlp(weights, "query"), project, key)
            folded_query = linear(through_key, Linear(weights["item.2.weight"], transposed=True))
            if not self.rescaled:
                shift = through_key * weights["item.2.bias"].unsqueeze(1)
                items = replace(items, shift=shift.sum(-1))
        if isinstance(self.attention, Rescaled):
            num_items = items.embedding_index.shape[2]
            factor = self.attention.scale(num_items, self._learned(weights, "map", self.attention))
            folded_query = folded_query * factor
        return items, folded_query

    def attend(
        self, weights: Weights, items: Items, folded_query: Float[Tensor, "S B P"]
    ) -> tuple[Float[Tensor, "S B P"], Float[Tensor, "S B"] | None]:
        """Return the context (attention-weighted hidden layers), and the sum of the weights where it is not 1."""
        if self.rescaled:
            _, context = attend(items, folded_query)
            return context, None
        attention_weights = self.attention_weights(weights, products(items, folded_query))
        return weighted_sum(items, attention_weights), attention_weights.sum(-1)

    def attention_weights(self, weights: Weights, logits: Float[Tensor, "S B N"]) -> Float[Tensor, "S B N"]:
        """Return the attention weights of the items."""
        if isinstance(self.attention, Rescaled):
            return torch.softmax(logits, dim=-1)
        return self.attention.weights(logits, self._learned(weights, "map", self.attention))

    def outputs(
        self, weights: Weights, context: Float[Tensor, "S B P"], total: Float[Tensor, "S B"] | None = None
    ) -> Float[Tensor, "S B D"]:
        """Return the attention outputs O, before the normaliser, of contexts whose weights sum to `total`, or to 1."""
        layers = [self._projection(weights, "value")]
        if self.model.projection == "direct":
            num_features = weights["attention.value"].shape[-1]
            context = context[..., :num_features]
        else:
            layers.insert(0, self._layer(weights, "item.2"))
        outputs = linear(context, *layers)
        if total is None:
            return outputs
        constant = linear(torch.zeros_like(context[:, :1]), *layers)
        missing = (total - 1).unsqueeze(-1)
        return outputs + missing * constant

    def normalise(self, weights: Weights, outputs: Float[Tensor, "S B D"]) -> Float[Tensor, "S B D"]:
        """Return the normalised attention outputs, which the layers above read."""
        parameters = self._learned(weights, "norm", self.norm)
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
        context, total = self.attend(weights, items, folded_query)
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

    def _learned(
        self, weights: Weights, group: str, module: Rescaled | Weighting | Normaliser
    ) -> dict[str, Float[Tensor, "S 1 _"]]:
        """Return the learned parameters of the attention map, `map`, or of the normaliser, `norm`."""
        return {name: weights[f"{group}.{name}"].unsqueeze(1) for name in module.LEARNABLE}

    def _key(self, weights: Weights) -> Linear:
        """Return W_K, transposed, over sqrt(D) where logits are scaled (`model.scaled_logits`)."""
        scale = self.model.width**-0.5 if self.model.scaled_logits else 1.0
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
        tensors |= initialisation.linear("item.2", width, width)
        tensors |= initialisation.linear("query.2", width, width)
    if model.output_projection:
        inputs["output"] = width
    for part, num_features in inputs.items():
        bound = num_features**-0.5
        tensors[f"attention.{part}"] = Initial((width, num_features), bound)
        if model.attention_biases and part != "key":
            tensors[f"attention.{part}.bias"] = Initial((width,), bound)
    for name, value in network.attention.LEARNABLE.items():
        tensors[f"map.{name}"] = Initial((1,), constant=value)
    for name, value in network.norm.LEARNABLE.items():
        tensors[f"norm.{name}"] = Initial((width,), constant=value)
    tensors |= initialisation.linear("head.0", width, width)
    tensors |= initialisation.linear("head.2", width, num_classes)
    return tensors
