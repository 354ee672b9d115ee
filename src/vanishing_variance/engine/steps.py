"""The steps of the fast network: Adam on the cross-entropy, an ensemble of seeds at once (Section 3, B.1).

S seeds, B sequences a batch.
"""

from torch import Tensor
from torch.nn.functional import cross_entropy

from vanishing_variance.engine.adam import adam, learning_rates
from vanishing_variance.engine.device import device
from vanishing_variance.engine.graphs import on_device
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.network import Network
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.sparse import occurring_rows, touched_rows


class FastSteps:
    """What `engine.loop.train` asks of an ensemble, of the fast network's `weights`, which are trained in place."""

    def __init__(self, plan: TrainingPlan, weights: Weights) -> None:
        self.weights = weights
        self._network = plan.variant.network()
        self._tables = self._network.embedding.sparse_tables
        for tensor in weights.values():
            tensor.requires_grad_()
        rates = learning_rates(plan.training, plan.steps)
        self.optimiser = adam(weights, self._tables, rates, plan.training.weight_decay)
        self._step = on_device(self._make)

    def step(self, number: int, batch: dict[str, Tensor], labels: Tensor) -> Tensor:
        """Make a step, and return its losses in nats, (S,)."""
        return self._step(batch, labels)

    def snapshot(self) -> dict[str, Tensor]:
        """Return the weights as they are after the last step."""
        return self.optimiser.snapshot()

    def finish(self) -> None:
        """Bring all weights up to date, and differentiate them no more."""
        self.optimiser.finish()
        for tensor in self.weights.values():
            tensor.requires_grad_(False)

    def _make(self, batch: dict[str, Tensor], labels: Tensor) -> Tensor:
        if device().type == "cpu":
            sizes = {name: self.weights[name].shape[1] for name in self._tables}
            batch, rows = touched_rows(batch, self._tables, sizes)
        else:
            batch, rows = occurring_rows(batch, self._tables)
        loss = losses(self._network, {**self.weights, **self.optimiser.read(rows)}, batch, labels).mean(1)
        loss.sum().backward()  # no seed's loss depends on another's weights
        self.optimiser.step()
        return loss.detach()


def losses(network: Network, weights: Weights, batch: Weights, labels: Tensor) -> Tensor:
    """Return each sequence's cross-entropy in nats, (S, B)."""
    class_logits = network(weights, batch)
    # sequences last, so that torch computes several at a time
    return cross_entropy(class_logits.mT.contiguous(), labels, reduction="none")
