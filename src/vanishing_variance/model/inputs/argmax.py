"""argmax retrieval: an item is its priority beside the one-hot of its class, the query one number (B.1)."""

from collections.abc import Mapping

from jaxtyping import Float, Integer, Shaped
from torch import Tensor

from vanishing_variance.model.initialisation import Initial, Scheme, linear
from vanishing_variance.model.items import Items
from vanishing_variance.tasks.argmax import Argmax
from vanishing_variance.tasks.base import TaskTraining

LOOKED_UP: tuple[str, ...] = ()


def initial(task: Argmax, training: TaskTraining, width: int, scheme: Scheme) -> dict[str, Initial]:
    """The first layers of the item MLP and of the query MLP."""
    return linear(scheme, "item.0", 1 + task.classes, width) | linear(scheme, "query.0", 1, width)


def tables(weights: Mapping[str, Float[Tensor, "S ..."]]) -> dict[str, Float[Tensor, "S C D"]]:
    """Nothing to look up: priorities are continuous."""
    return {}


def looked_up(batch: Mapping[str, Shaped[Tensor, "S B ..."]]) -> dict[str, Integer[Tensor, "S R"]]:
    """No table is learned row by row."""
    return {}


def enter(
    weights: Mapping[str, Float[Tensor, "S ..."]],
    batch: Mapping[str, Shaped[Tensor, "#S B ..."]],
    tables: Mapping[str, Float[Tensor, "S C D"]] | None = None,
) -> tuple[Items, Float[Tensor, "S B 1"]]:
    """W_1 [priority, one-hot(class)] + b_1: priority times one row, plus a row of a table; the query."""
    weight, bias = weights["item.0.weight"].mT, weights["item.0.bias"]
    items = Items(
        table=weight[:, 1:] + bias.unsqueeze(1), index=batch["class"], rows=weight[:, :1], scale=batch["priority"]
    )
    return items, batch["query"].unsqueeze(-1).expand(len(weight), -1, -1)
