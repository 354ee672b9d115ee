"""The oracle: one seed as a plain `nn.Module`, written as Section 2 writes it, keys and values for every item.

Nothing in the pipeline imports it. The tests hold the ensemble against it, and the benchmark times it.

B sequences, N items, D width, F features of an item or query, C classes.
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

Batch = Mapping[str, Shaped[Tensor, "B ..."]]


class Reference(nn.Module):
    """Attn(X, y) = norm(map(q K^T / sqrt(d)) V) W_O for one query, then an MLP to the classes.

    With several heads O = map(q K^T / sqrt(d)) V is made of each head's, side by side; d = D / heads is a head's width.
    Without sqrt(d) where logits are not scaled, and without W_O where there is no output projection.
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
        self.task, self.norm, self.model, self.map = task, norm, model, attention
        width, biases = model.width, model.attention_biases

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

        output = nn.Linear(width, width, bias=biases) if model.output_projection else nn.Identity()
        projections = {
            "query": nn.Linear(query_features, width, bias=biases),
            "key": nn.Linear(item_features, width, bias=False),
            "value": nn.Linear(item_features, width, bias=biases),
            "output": output,
        }
        self.attention = nn.ModuleDict(projections)

        self.map_parameters, self.norm_parameters = nn.ParameterDict(), nn.ParameterDict()
        for name, value in attention.LEARNABLE.items():
            self.map_parameters[name] = torch.full((1, 1, 1), value)
        for name, value in norm.LEARNABLE.items():
            self.norm_parameters[name] = torch.full((width,), value)
        self.head = _mlp(width, width, task.num_classes)

    def forward(self, batch: Batch) -> Float[Tensor, "B C"]:
        """Return the class logits of a batch of sequences, arrays by name."""
        item_features, query_features = self._features(batch)
        items, query = self.item(item_features), self.query(query_features)
        head_width = self.model.width // self.model.heads
        queries = self.attention["query"](query).split(head_width, dim=-1)
        keys = self.attention["key"](items).split(head_width, dim=-1)
        values = self.attention["value"](items).split(head_width, dim=-1)

        head_outputs = []
        for q, k, v in zip(queries, keys, values, strict=True):
            logits = torch.einsum("bd,bnd->bn", q, k)
            if self.model.scaled_logits:
                logits = logits / head_width**0.5
            weights = self._weights(logits)
            head_outputs.append(torch.einsum("bn,bnd->bd", weights, v))
        outputs = torch.cat(head_outputs, dim=-1)

        normalised = self.norm.normalise(outputs, dict(self.norm_parameters), self.model.epsilon)
        projected = self.attention["output"](normalised)
        class_logits: Tensor = self.head(projected)
        return class_logits

    def _features(self, batch: Batch) -> tuple[Float[Tensor, "B N F"], Float[Tensor, "B _"]]:
        """Return the features of the items, and those of the query."""
        if isinstance(self.task, Dictionary):
            key = self.embedding["key"](batch["key"].long())
            value = self.embedding["value"](batch["value"].long())
            query = self.embedding["key"](batch["query"].long())
            return torch.cat((key, value), dim=-1), query
        priority = batch["priority"].unsqueeze(-1)
        # not one_hot, which looks at its values, so that torch.func.vmap can take this module
        classes = torch.arange(self.task.num_classes, device=priority.device)
        one_hot = (batch["class"].unsqueeze(-1) == classes).to(priority)
        return torch.cat((priority, one_hot), dim=-1), batch["query"].unsqueeze(-1)

    def _weights(self, logits: Float[Tensor, "B N"]) -> Float[Tensor, "B N"]:
        """Return the attention weights by the map, as of an ensemble of one seed."""
        parameters = dict(self.map_parameters)
        ensemble = logits.unsqueeze(0)
        if isinstance(self.map, Rescaled):
            factor = self.map.scale(logits.shape[-1], parameters)
            return torch.softmax(ensemble * factor, dim=-1).squeeze(0)
        return self.map.weights(ensemble, parameters).squeeze(0)

    def load(self, weights: Mapping[str, Float[Tensor, "S ..."]], seed: int) -> None:
        """Take the weights of one seed of an ensemble, whose names differ from those of modules."""
        state = {}
        for name, tensor in weights.items():
            group, _, part = name.partition(".")
            if group == "map":
                state[f"map_parameters.{part}"] = tensor[seed].view(1, 1, 1)
            elif group == "norm":
                state[f"norm_parameters.{part}"] = tensor[seed]
            elif group in ("embedding", "attention") and not part.endswith("bias"):
                state[f"{name}.weight"] = tensor[seed]
            else:
                state[name] = tensor[seed]
        self.load_state_dict(state)


def _mlp(inputs: int, width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, outputs))
