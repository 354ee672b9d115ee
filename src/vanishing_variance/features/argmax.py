"""argmax retrieval: an item is its priority beside the one-hot of its class, the query one number (B.1).

B sequences, N items, F features.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.tasks.argmax.task import Argmax


class Features(nn.Module):
    """The numbers as they are, nothing learned; `items` and `query` are the features' widths."""

    def __init__(self, task: Argmax, training: TaskTraining) -> None:
        super().__init__()
        self.classes = task.classes
        self.items, self.query = 1 + task.classes, 1

    def forward(
        self, batch: Mapping[str, Shaped[Tensor, "B ..."]]
    ) -> tuple[Float[Tensor, "B N F"], Float[Tensor, "B 1"]]:
        """Return the features of the items, and those of the query."""
        priority = batch["priority"].unsqueeze(-1)
        # not one_hot, which looks at its values, so that torch.func.vmap can take this module
        classes = torch.arange(self.classes, device=priority.device)
        one_hot = (batch["class"].unsqueeze(-1) == classes).to(priority)
        return torch.cat((priority, one_hot), dim=-1), batch["query"].unsqueeze(-1)
