"""The network of Section 2, every seed at once: the one definition of the forward pass.

    items -> item MLP -> keys, values \
                                       softmax(Q K^T / sqrt(D)) V = O -> normaliser -> W_O -> MLP -> label
    query -> query MLP -> query       /

S seeds, B sequences, N items, D width, C classes, F features. Every weight has the seed as its first axis; a batch has
it too, or 1 there where all seeds share the sequences.

No key or value is ever formed. With h the item MLP's hidden layer, items are h W_2 + b_2, and the logits
(h W_2 + b_2) W_K . q equal h . (W_2 W_K q) up to a constant that softmax removes; and because the attention weights sum
to one, O = sum_n a_n (h_n W_2 + b_2) W_V = ((sum_n a_n h_n) W_2 + b_2) W_V.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from vanishing_variance.model import initialisation
from vanishing_variance.model.attention import attend
from vanishing_variance.model.config import Model
from vanishing_variance.model.initialisation import SCHEMES, Initial
from vanishing_variance.model.interfaces import Batch, Embedding, Normaliser, Weights
from vanishing_variance.model.items import Items
from vanishing_variance.model.linear import Linear, linear


@dataclass(frozen=True)
class Network:
    """The architecture: how a task's items enter it, and a normaliser."""

    embedding: Embedding
    norm: Normaliser
    model: Model

    def encode(
        self, weights: Weights, batch: Batch, tables: Weights | None = None
    ) -> tuple[Items, Float[Tensor, "S B D"]]:
        """Return the items, and the query folded through W_Q, W_K and the item MLP: its product with h_n is a logit."""
        items, query = self.embedding.embed(weights, batch, tables)
        key = weights["attention.key"] * self.model.width**-0.5
        folded = Linear(key, transposed=True), Linear(weights["item.2.weight"], transposed=True)
        layers = *self._mlp(weights, "query"), self._projection(weights, "query"), *folded
        return replace(items, gelu=self.model.gelu), linear(query, *layers)

    def outputs(self, weights: Weights, context: Float[Tensor, "S B D"]) -> Float[Tensor, "S B D"]:
        """Return the attention outputs O, before the normaliser, of contexts (attention-averaged hidden layers)."""
        items = Linear(weights["item.2.weight"], weights["item.2.bias"])
        return linear(context, items, self._projection(weights, "value"))

    def normalise(self, weights: Weights, outputs: Float[Tensor, "S B D"]) -> Float[Tensor, "S B D"]:
        """Return the normalised attention outputs, which the layers above read."""
        parameters = {name: weights[f"norm.{name}"].unsqueeze(1) for name in self.norm.LEARNABLE}
        normalised: Tensor = self.norm.normalise(outputs, parameters, self.model.epsilon)
        return normalised

    def read_out(self, weights: Weights, normalised: Float[Tensor, "S B D"]) -> Float[Tensor, "S B C"]:
        """Return the class logits."""
        return linear(normalised, self._projection(weights, "output"), *self._mlp(weights, "head"))

    def __call__(self, weights: Weights, batch: Batch) -> Float[Tensor, "S B C"]:
        """Return the class logits of a batch of sequences."""
        _, context = attend(*self.encode(weights, batch))
        return self.read_out(weights, self.normalise(weights, self.outputs(weights, context)))

    def _projection(self, weights: Weights, part: str) -> Linear:
        """Return W_Q, W_V or W_O."""
        return Linear(weights[f"attention.{part}"], weights.get(f"attention.{part}.bias"))

    def _mlp(self, weights: Weights, name: str) -> tuple[Linear, Linear]:
        """Return two linear layers with one GELU between them and none after."""
        first, second = ((weights[f"{name}.{place}.weight"], weights[f"{name}.{place}.bias"]) for place in (0, 2))
        return Linear(*first, gelu=self.model.gelu), Linear(*second)


def initial(embedding: Mapping[str, Initial], model: Model, classes: int, norm: Normaliser) -> dict[str, Initial]:
    """Return how every tensor of one seed starts; `embedding`: those of the task's own layers."""
    scheme, width = SCHEMES[model.initialisation], model.width
    square = {
        name: initial
        for part in ("query", "key", "value", "output")
        for name, initial in initialisation.linear(
            scheme, f"attention.{part}", width, width, bias=model.attention_biases and part != "key"
        ).items()
    }
    return {
        **embedding,
        **initialisation.linear(scheme, "item.2", width, width),
        **initialisation.linear(scheme, "query.2", width, width),
        **{name.removesuffix(".weight"): initial for name, initial in square.items()},
        **{f"norm.{name}": Initial((width,), constant=value) for name, value in norm.LEARNABLE.items()},
        **initialisation.linear(scheme, "head.0", width, width),
        **initialisation.linear(scheme, "head.2", width, classes),
    }
