"""The oracle: one seed as a plain `nn.Module`, written as Section 2 writes it, keys and values for every item.

Nothing in the pipeline imports it. The tests hold the ensemble against it, and the benchmark times it.

B sequences, N items, D width, C classes.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

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
        self.logit_scale = model.width**-0.5 if model.scaled_logits else 1.0
        width = model.width

        self.embedding = nn.ModuleDict()
        item_features, query_features = 1 + task.num_classes, 1
        if isinstance(task, Dictionary):
            self.embedding["key"] = nn.Embedding(task.key_classes, embedding_width)
            self.embedding["value"] = nn.Embedding(task.value_classes, embedding_width)
            item_features, query_features = 2 * embedding_width, embedding_width

        self.item: nn.Module = nn.Identity()
        self.query: nn.Module = nn.Identity()
        if model.projection == "mlp":
            self.item = _mlp(item_features, width, width)
            self.query = _mlp(query_features, width, width)
            item_features = query_features = width

        self.attention = nn.ModuleDict()
        self.attention["query"] = nn.Linear(query_features, width, bias=model.attention_biases)
        self.attention["key"] = nn.Linear(item_features, width, bias=False)
        self.attention["value"] = nn.Linear(item_features, width, bias=model.attention_biases)
        self.attention["output"] = nn.Identity()
        if model.output_projection:
            self.attention["output"] = nn.Linear(width, width, bias=model.attention_biases)

        of_map = {name: torch.full((1,), value) for name, value in attention.LEARNABLE.items()}
        of_norm = {name: torch.full((width,), value) for name, value in norm.LEARNABLE.items()}
        self.map_parameters = nn.ParameterDict(of_map)
        self.norm_parameters = nn.ParameterDict(of_norm)
        self.head = _mlp(width, width, task.num_classes)

    def forward(self, batch: Mapping[str, Shaped[Tensor, "B ..."]]) -> Float[Tensor, "B C"]:
        """Return the class logits of a batch of sequences, arrays by name."""
        items, query = self._embed(batch)
        items, query = self.item(items), self.query(query)
        q, k, v = self.attention["query"](query), self.attention["key"](items), self.attention["value"](items)
        logits = (q.unsqueeze(1) @ k.mT).squeeze(1) * self.logit_scale
        outputs = (self._weights(logits).unsqueeze(1) @ v).squeeze(1)
        normalised = self.norm.normalise(outputs, dict(self.norm_parameters), self.epsilon)
        class_logits: Tensor = self.head(self.attention["output"](normalised))
        return class_logits

    def _embed(
        self, batch: Mapping[str, Shaped[Tensor, "B ..."]]
    ) -> tuple[Float[Tensor, "B N _"], Float[Tensor, "B _"]]:
        """Return the features of the items, and those of the query."""
        if "key" in self.embedding:
            keys, values = self.embedding["key"](batch["key"].long()), self.embedding["value"](batch["value"].long())
            return torch.cat((keys, values), -1), self.embedding["key"](batch["query"].long())
        # not one_hot, which looks at its values, so that torch.func.vmap can take this module
        classes = batch["class"].unsqueeze(-1) == torch.arange(self.classes, device=batch["class"].device)
        items = torch.cat((batch["priority"].unsqueeze(-1), classes.to(batch["priority"])), -1)
        return items, batch["query"].unsqueeze(-1)

    def _weights(self, logits: Float[Tensor, "B N"]) -> Float[Tensor, "B N"]:
        """Return the attention weights by the map, as of an ensemble of one seed."""
        if isinstance(self.map, Rescaled):
            return torch.softmax(logits * self.map.scale(logits.shape[-1], dict(self.map_parameters)), dim=-1)
        parameters = {name: value.view(1, 1, 1) for name, value in self.map_parameters.items()}
        return self.map.weights(logits.unsqueeze(0), parameters).squeeze(0)

    def load(self, weights: Mapping[str, Float[Tensor, "S ..."]], seed: int) -> None:
        """Take the weights of one seed of an ensemble."""
        named = {}
        for name, tensor in weights.items():
            group, _, part = name.partition(".")
            if group in ("norm", "map"):
                named[f"{group}_parameters.{part}"] = tensor[seed]
            elif group in ("embedding", "attention") and not part.endswith("bias"):
                named[f"{name}.weight"] = tensor[seed]
            else:
                named[name] = tensor[seed]
        self.load_state_dict(named)


def _mlp(inputs: int, width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, outputs))
