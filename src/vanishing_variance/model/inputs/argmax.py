"""argmax retrieval: an item is its priority beside the one-hot of its class, the query one number (B.1)."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from vanishing_variance.model.initialisation import Initial, linear
from vanishing_variance.tasks.argmax import Argmax
from vanishing_variance.tasks.base import TaskTraining


def initial(task: Argmax, training: TaskTraining, width: int) -> dict[str, Initial]:
    """The first layers of the item MLP and of the query MLP."""
    return linear("item.0", 1 + task.classes, width) | linear("query.0", 1, width)


def tables(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Nothing to look up: priorities are continuous."""
    return {}


def enter(
    weights: Mapping[str, Tensor], batch: Mapping[str, Tensor], tables: Mapping[str, Tensor] | None = None
) -> tuple[Tensor, Tensor]:
    """W_1 [priority, one-hot(class)] + b_1, shape (S, B, N, D), and the query's number, (S, B, 1)."""
    weight, bias = weights["item.0.weight"], weights["item.0.bias"]
    classes = one_hot(batch["class"].long(), weight.shape[2] - 1)
    features = torch.cat((batch["priority"].unsqueeze(-1), classes.to(weight.dtype)), dim=-1).flatten(1, 2)
    flat = torch.baddbmm(bias.unsqueeze(1), features.expand(len(weight), -1, -1), weight.mT)
    query = batch["query"].unsqueeze(-1).expand(len(weight), -1, -1)
    return flat.unflatten(1, batch["priority"].shape[1:]), query
