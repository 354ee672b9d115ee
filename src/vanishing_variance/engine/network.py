"""The network of Section 2, every seed at once: the one definition of the forward pass.

    items -> item MLP -> keys, values \
                                       softmax(Q K^T / sqrt(D)) V = O -> normaliser -> W_O -> MLP -> label
    query -> query MLP -> query       /

S seeds, B sequences, N items, D width, C classes, F features, P features filled up with zeros, Q queries (1, but for an
attention map of several). Every weight has the seed as its first axis; a batch has it too, or 1 there where all seeds
share the sequences.

No key or value is ever formed. With h the item MLP's hidden layer, items are h W_2 + b_2, and the logits
(h W_2 + b_2) W_K . q equal h . (W_2 W_K q) up to a constant that softmax removes; and because the attention weights sum
to one, O = sum_n a_n (h_n W_2 + b_2) W_V = ((sum_n a_n h_n) W_2 + b_2) W_V. An attention map whose weights sum to
something else takes O's constant part as often; one that is not indifferent to the logits' constant is given it.

The projections (`model.projection`): `mlp` is the paper's. `direct` leaves both MLPs out: h is the features themselves.
`qk_norm` divides query and keys by their norms, times a learned g in place of 1 / sqrt(D) (Henry et al. 2020), and
`tied_qk_norm` has W_K for W_Q as well: their keys' norms take D^2 products an item, where folding takes D.

Where `model.scaled_logits` is false, there is no 1 / sqrt(D), and where `model.output_projection` is, no W_O.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.linalg import vector_norm
from torch.nn.functional import normalize, pad

from vanishing_variance.engine import initialisation
from vanishing_variance.engine.attention import attend, items_at_once, products, weighted_sum
from vanishing_variance.engine.config import Model
from vanishing_variance.engine.initialisation import SCHEMES, Initial
from vanishing_variance.engine.interfaces import Batch, Embedding, Normaliser, Rescaled, Weighting, Weights
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.linear import Linear, linear

# Features are filled up to a multiple of this, which compiled code works on at once.
LANES = 16
# The initial g of Henry et al., log2(L^2 - L), for the L = 16 items that the short range is trained on at most.
INITIAL_SCALE = 7.9


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
        return hasattr(self.attention, "scale")

    @property
    def queries(self) -> int:
        """The number of queries of the attention map, each on its own part of the width: 1 but for `differential`."""
        return getattr(self.attention, "QUERIES", 1)

    def tables(self, weights: Weights) -> Weights:
        """Return what `encode` may look up instead of computing it for every occurrence of an item."""
        return self.embedding.tables(self._entry(weights))

    def encode(
        self, weights: Weights, batch: Batch, tables: Weights | None = None
    ) -> tuple[Items, Float[Tensor, "S QB P"]]:
        """Return the items, and the query folded through W_Q, W_K and the item MLP: its product with h_n is a logit.

        An attention map of Q queries has that of the second after that of the first, as if of further sequences.
        """
        items, query = self.embedding.embed(self._entry(weights), batch, tables)
        if self.model.projection == "direct":
            folded = self._through_keys(weights, query, self._projection(weights, "query"))
            items = replace(items, gelu="none")
            folded = pad(folded, (0, items.embedding.shape[-1] - folded.shape[-1]))
        else:
            items = replace(items, gelu=self.model.gelu)
            items, folded = self._folded(weights, items, query)
        return self._rescaled(weights, items, folded) if isinstance(self.attention, Rescaled) else (items, folded)

    def attend(
        self, weights: Weights, items: Items, folded_query: Float[Tensor, "S QB P"]
    ) -> tuple[Float[Tensor, "S *Q B N"], Float[Tensor, "S B P"], Float[Tensor, "S B"] | None]:
        """Return the logits, the context (attention-weighted hidden layers), and the weights' sum where it is not 1."""
        if self.rescaled and items.key_norm is None:
            return *attend(items, folded_query), None
        logits = self.logits(items, folded_query)
        shares = self.shares(weights, logits)
        return logits, weighted_sum(items, shares), None if self.rescaled else shares.sum(-1)

    def logits(self, items: Items, folded_query: Float[Tensor, "S QB P"]) -> Float[Tensor, "S *Q B N"]:
        """Return the logits, with an axis for the queries where the attention map has several."""
        if self.queries == 1:
            return products(items, folded_query)
        logits: Tensor = products(items.repeated(self.queries), folded_query).unflatten(1, (self.queries, -1))
        return logits

    def shares(self, weights: Weights, logits: Float[Tensor, "S *Q B N"]) -> Float[Tensor, "S B N"]:
        """Return the attention weights of the items."""
        if isinstance(self.attention, Rescaled):
            return torch.softmax(logits, dim=-1)
        parameters = {name: weights[f"map.{name}"].unsqueeze(-1) for name in self.attention.LEARNABLE}
        return self.attention.weights(logits, parameters)

    def outputs(
        self, weights: Weights, context: Float[Tensor, "S B P"], total: Float[Tensor, "S B"] | None = None
    ) -> Float[Tensor, "S B D"]:
        """Return the attention outputs O, before the normaliser, of contexts whose weights sum to `total`, or to 1."""
        layers = [self._projection(weights, "value")]
        if self.model.projection == "direct":
            context = context[..., : layers[0].weight.shape[-1]]
        else:
            layers.insert(0, Linear(weights["item.2.weight"], weights["item.2.bias"]))
        outputs = linear(context, *layers)
        if total is None:
            return outputs
        constant = linear(context.new_zeros(len(context), 1, context.shape[-1]), *layers)
        return outputs + (total - 1).unsqueeze(-1) * constant

    def normalise(self, weights: Weights, outputs: Float[Tensor, "S B D"]) -> Float[Tensor, "S B D"]:
        """Return the normalised attention outputs, which the layers above read."""
        parameters = {name: weights[f"norm.{name}"].unsqueeze(1) for name in self.norm.LEARNABLE}
        normalised: Tensor = self.norm.normalise(outputs, parameters, self.model.epsilon)
        return normalised

    def read_out(self, weights: Weights, normalised: Float[Tensor, "S B D"]) -> Float[Tensor, "S B C"]:
        """Return the class logits."""
        projection = [self._projection(weights, "output")] if self.model.output_projection else []
        return linear(normalised, *projection, *self._mlp(weights, "head"))

    def __call__(self, weights: Weights, batch: Batch) -> Float[Tensor, "S B C"]:
        """Return the class logits of a batch of sequences."""
        _, context, total = self.attend(weights, *self.encode(weights, batch))
        return self.read_out(weights, self.normalise(weights, self.outputs(weights, context, total)))

    def _entry(self, weights: Weights) -> Weights:
        """Return the weights with the item MLP's first layer; `direct` copies the features."""
        if self.model.projection != "direct":
            return weights
        key = weights["attention.key"]
        seeds, _, features = key.shape
        padded = -(-features // LANES) * LANES
        copied = torch.eye(padded, features, dtype=key.dtype, device=key.device).expand(seeds, -1, -1)
        return {**weights, "item.0.weight": copied, "item.0.bias": key.new_zeros(seeds, padded)}

    def _folded(
        self, weights: Weights, items: Items, query: Float[Tensor, "S B F"]
    ) -> tuple[Items, Float[Tensor, "S QB D"]]:
        """Return the items with what their logits need beside the query, folded through both MLPs."""
        second = Linear(weights["item.2.weight"], transposed=True)
        if self.model.projection == "mlp" and self.rescaled:
            into = self._projection(weights, "query"), *self._keys(weights), second
            return items, linear(query, *self._mlp(weights, "query"), *into)
        if self.model.projection == "mlp":
            layers = *self._mlp(weights, "query"), self._projection(weights, "query")
            through_key = self._through_keys(weights, query, *layers)
        else:
            tied = self.model.projection == "tied_qk_norm"
            projection = Linear(weights["attention.key"]) if tied else self._projection(weights, "query")
            unit = normalize(linear(query, *self._mlp(weights, "query"), projection), dim=-1)
            scaled = weights["attention.scale"].unsqueeze(-1) * unit
            through_key = linear(scaled, Linear(weights["attention.key"], transposed=True))
            items = replace(items, key_norm=self._key_norm(weights, items))
        shift = (through_key * weights["item.2.bias"].unsqueeze(1)).sum(-1)
        return replace(items, shift=shift), linear(through_key, second)

    def _key_norm(self, weights: Weights, items: Items) -> Float[Tensor, "S B N"]:
        """Return the norm of each item's key; only a part of the items is dense at a time."""
        layers = Linear(weights["item.2.weight"], weights["item.2.bias"]), Linear(weights["attention.key"])
        seeds, (sequences, _) = len(items.embedding), items.embedding_index.shape[1:]
        size = items_at_once(items.embedding.device, seeds * sequences)
        hidden = (part.hidden() for part in items.parts(size))
        keys = (linear(of_part.flatten(1, 2), *layers).unflatten(1, of_part.shape[1:3]) for of_part in hidden)
        return torch.cat([vector_norm(of_part, dim=-1) for of_part in keys], dim=-1)

    def _rescaled(
        self, weights: Weights, items: Items, folded_query: Float[Tensor, "S B P"]
    ) -> tuple[Items, Float[Tensor, "S B P"]]:
        """Return the folded query, and the logits' shift, times the attention map's factor for the number of items."""
        assert isinstance(self.attention, Rescaled)
        parameters = {name: weights[f"map.{name}"].squeeze(-1) for name in self.attention.LEARNABLE}
        factor = self.attention.scale(items.embedding_index.shape[2], parameters)
        if isinstance(factor, float) and factor == 1:
            return items, folded_query
        factor = torch.as_tensor(factor, dtype=folded_query.dtype, device=folded_query.device).view(-1, 1)
        shift = None if items.shift is None else items.shift * factor
        return replace(items, shift=shift), folded_query * factor.unsqueeze(-1)

    def _through_keys(
        self, weights: Weights, query: Float[Tensor, "S B F"], *layers: Linear
    ) -> Float[Tensor, "S QB F2"]:
        """Return the query through `layers` and W_K, transposed, for each query of the attention map."""
        parts = [linear(query, *layers, key) for key in self._keys(weights)]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    def _keys(self, weights: Weights) -> list[Linear]:
        """Return W_K, transposed, over sqrt(D); of Q queries: for each over sqrt(D / Q), and 0 beyond its own part.

        Where logits are not scaled, it is not divided.
        """
        size = self.model.width // self.queries
        key = weights["attention.key"] * (size**-0.5 if self.model.scaled_logits else 1.0)
        if self.queries == 1:
            return [Linear(key, transposed=True)]
        part = torch.arange(self.model.width, device=key.device).div(size, rounding_mode="floor")
        return [Linear(key * (part == own).unsqueeze(-1), transposed=True) for own in range(self.queries)]

    def _projection(self, weights: Weights, part: str) -> Linear:
        """Return W_Q, W_V or W_O."""
        return Linear(weights[f"attention.{part}"], weights.get(f"attention.{part}.bias"))

    def _mlp(self, weights: Weights, name: str) -> tuple[Linear, Linear]:
        """Return two linear layers with one GELU between them and none after."""
        first, second = ((weights[f"{name}.{place}.weight"], weights[f"{name}.{place}.bias"]) for place in (0, 2))
        return Linear(*first, gelu=self.model.gelu), Linear(*second)


def initial(network: Network, embedding: Mapping[str, Initial], classes: int) -> dict[str, Initial]:
    """Return how every tensor of one seed starts; `embedding`: those of the task's own layers."""
    model = network.model
    scheme, width = SCHEMES[model.initialisation], model.width
    inputs = dict.fromkeys(("query", "key", "value", "output"), width)
    own: dict[str, Initial] = {}
    if model.projection == "direct":
        of_item, of_query = (embedding[f"{name}.0.weight"].shape[1] for name in ("item", "query"))
        inputs |= {"query": of_query, "key": of_item, "value": of_item}
        embedding = {name: how for name, how in embedding.items() if not name.startswith(("item.", "query."))}
    else:
        for name in ("item.2", "query.2"):
            own |= initialisation.linear(scheme, name, width, width)
    if model.projection == "tied_qk_norm":
        del inputs["query"]
    if not model.output_projection:
        del inputs["output"]
    for part, features in inputs.items():
        bias = model.attention_biases and part != "key"
        layer = initialisation.linear(scheme, f"attention.{part}", features, width, bias)
        own |= {name.removesuffix(".weight"): how for name, how in layer.items()}
    if model.projection in ("qk_norm", "tied_qk_norm"):
        own["attention.scale"] = Initial((1,), constant=INITIAL_SCALE)
    return {
        **embedding,
        **own,
        **{f"map.{name}": Initial((1,), constant=value) for name, value in network.attention.LEARNABLE.items()},
        **{f"norm.{name}": Initial((width,), constant=value) for name, value in network.norm.LEARNABLE.items()},
        **initialisation.linear(scheme, "head.0", width, width),
        **initialisation.linear(scheme, "head.2", width, classes),
    }
