"""argmax retrieval: an item is its priority beside the one-hot of its class, the query one number (B.1)."""

from collections.abc import Mapping

from jaxtyping import Float, Shaped
from torch import Tensor

from vanishing_variance.engine.initialisation import Initial, linear
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.tasks.argmax.task import Argmax

SPARSE_TABLES: Mapping[str, tuple[str, ...]] = {}


def initial(task: Argmax, training: TaskTraining, width: int) -> dict[str, Initial]:
    """Return how the first layers of the item MLP and of the query MLP start."""
    return linear("item.0", 1 + task.classes, width) | linear("query.0", 1, width)


def tables(weights: Mapping[str, Float[Tensor, "S ..."]]) -> dict[str, Float[Tensor, "S C D"]]:
    """Return nothing to look up: priorities are continuous."""
    return {}


def embed(
    weights: Mapping[str, Float[Tensor, "S ..."]],
    batch: Mapping[str, Shaped[Tensor, "#S B ..."]],
    tables: Mapping[str, Float[Tensor, "S C D"]] | None = None,
) -> tuple[Items, Float[Tensor, "S B 1"]]:
    """Return W_1 [priority, one-hot(class)] + b_1, priority times one row plus a row of a table; and the query."""
    weight, bias = weights["item.0.weight"], weights["item.0.bias"]
    priority, classes = weight.mT.contiguous().split((1, weight.shape[2] - 1), dim=1)
    items = Items(
        embedding=classes + bias.unsqueeze(1),
        embedding_index=batch["class"],
        base=priority,
        scale=batch["priority"],
    )
    query = batch["query"].unsqueeze(-1).expand(len(weight), -1, -1)
    return items, query
