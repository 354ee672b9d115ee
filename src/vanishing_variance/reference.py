"""The oracle: one seed as a plain `nn.Module`, written as Section 2 writes it, keys and values for every item.

Nothing in the pipeline imports it. The tests hold the ensemble against it, and the benchmark times it.

S seeds, B sequences, C classes.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn.functional import normalize

from vanishing_variance.attentions import softmax
from vanishing_variance.engine.config import Model
from vanishing_variance.engine.interfaces import Normaliser, Rescaled, Weighting
from vanishing_variance.engine.task import Task
from vanishing_variance.tasks.dictionary.task import Dictionary


class Reference(nn.Module):
    """Attn(X, y) = norm(map(q K^T / sqrt(D)) V) W_O for one query, then an MLP to the classes.

    Without sqrt(D) where logits are not scaled, and without W_O where there is no output projection.
    """

    def __init__(
        self,
        task: Task,
        norm: Normaliser,
        model: Model,
        embedding_width: int = 64,
        attention: Rescaled | Weighting = softmax,
    ) -> None:
        super().__init__()
        self.norm, self.epsilon, self.classes, self.map = norm, model.epsilon, task.num_classes, attention
        self.embedding = nn.ModuleDict()
        item_features, query_features = 1 + task.num_classes, 1
        if isinstance(task, Dictionary):
            self.embedding["key"] = nn.Embedding(task.key_classes, embedding_width)
            self.embedding["value"] = nn.Embedding(task.value_classes, embedding_width)
            item_features, query_features = 2 * embedding_width, embedding_width
        width, inputs = model.width, {"query": query_features, "key": item_features, "value": item_features}
        self.item: nn.Module = nn.Identity()
        self.query: nn.Module = nn.Identity()
        if model.projection != "direct":
            self.item, self.query = _mlp(item_features, width, model), _mlp(query_features, width, model)
            inputs = dict.fromkeys(inputs, width)
        self.attention = nn.ModuleDict(
            {
                name: nn.Linear(inputs.get(name, width), width, bias=model.attention_biases and name != "key")
                for name in ("query", "key", "value", "output")
            }
        )
        self.projection = model.projection
        self.scaled = model.scaled_logits
        if not model.output_projection:
            self.attention["output"] = nn.Identity()
        if model.projection == "tied_qk_norm":
            del self.attention["query"]
        if model.projection in ("qk_norm", "tied_qk_norm"):
            self.scale = nn.Parameter(torch.ones(1))
        self.map_parameters = nn.ParameterDict(
            {name: torch.full((1,), value) for name, value in attention.LEARNABLE.items()}
        )
        self.norm_parameters = nn.ParameterDict(
            {name: torch.full((width,), value) for name, value in norm.LEARNABLE.items()}
        )
        self.head = _mlp(width, task.num_classes, model)

    def forward(self, batch: Mapping[str, Shaped[Tensor, "B ..."]]) -> Float[Tensor, "B C"]:
        """Return the class logits of a batch of sequences, arrays by name."""
        if "key" in self.embedding:
            keys, values = self.embedding["key"](batch["key"].long()), self.embedding["value"](batch["value"].long())
            items, query = torch.cat((keys, values), -1), self.embedding["key"](batch["query"].long())
        else:
            # not one_hot, which looks at its values, so that torch.func.vmap can take this module
            classes = batch["class"].unsqueeze(-1) == torch.arange(self.classes, device=batch["class"].device)
            items = torch.cat((batch["priority"].unsqueeze(-1), classes.to(batch["priority"])), -1)
            query = batch["query"].unsqueeze(-1)
        x = self.item(items)
        key, value = self.attention["key"](x), self.attention["value"](x)
        tied = self.projection == "tied_qk_norm"
        q = self.attention["key" if tied else "query"](self.query(query)).unsqueeze(1)
        queries = getattr(self.map, "QUERIES", 1)
        if self.projection in ("qk_norm", "tied_qk_norm"):
            q, key, factor = normalize(q, dim=-1), normalize(key, dim=-1), self.scale
        else:
            factor = key.new_tensor((key.shape[-1] / queries) ** -0.5 if self.scaled else 1)
        pairs = zip(q.chunk(queries, dim=-1), key.chunk(queries, dim=-1), strict=True)
        logits_of_each = [(of_query @ of_key.mT).squeeze(1) * factor for of_query, of_key in pairs]
        logits = logits_of_each[0] if queries == 1 else torch.stack(logits_of_each)
        outputs = (self._weights(logits).unsqueeze(1) @ value).squeeze(1)
        normalised = self.norm.normalise(outputs, dict(self.norm_parameters), self.epsilon)
        of_classes: Tensor = self.head(self.attention["output"](normalised))
        return of_classes

    def _weights(self, logits: Float[Tensor, "*Q B N"]) -> Float[Tensor, "B N"]:
        """Return the attention weights by the map, as of an ensemble of one seed."""
        if isinstance(self.map, Rescaled):
            return torch.softmax(logits * self.map.scale(logits.shape[-1], dict(self.map_parameters)), dim=-1)
        parameters = {name: value.view(1, 1, 1) for name, value in self.map_parameters.items()}
        return self.map.weights(logits.unsqueeze(0), parameters).squeeze(0)

    def load(self, weights: Mapping[str, Float[Tensor, "S ..."]], seed: int) -> None:
        """Take the weights of one seed of an ensemble."""
        own = {name: tensor[seed] for name, tensor in weights.items()}
        for kind in ("norm", "map"):
            own = {name.replace(f"{kind}.", f"{kind}_parameters.", 1): tensor for name, tensor in own.items()}
        own = {"scale" if name == "attention.scale" else name: tensor for name, tensor in own.items()}
        attention = {f"attention.{part}" for part in self.attention}
        embedding = {f"embedding.{part}" for part in self.embedding}
        named = {f"{name}.weight" if name in attention | embedding else name: own[name] for name in own}
        self.load_state_dict(named)


def _mlp(inputs: int, outputs: int, model: Model) -> nn.Sequential:
    gelu = nn.GELU("none" if model.gelu == "exact" else "tanh")
    return nn.Sequential(nn.Linear(inputs, model.width), gelu, nn.Linear(model.width, outputs))
