"""Variants of the experiment: a task, an attention map and a normaliser, and their network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from vanishing_variance.engine import registry
from vanishing_variance.engine.config import Model
from vanishing_variance.engine.initialisation import Initial
from vanishing_variance.engine.interfaces import Embedding, Normaliser, Rescaled, Weighting
from vanishing_variance.engine.network import Network, initial
from vanishing_variance.engine.task import Task, TaskTraining
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.sections import get_param


@dataclass(frozen=True)
class Variant:
    """Names and parameters only, so that it can be sent to another process."""

    task_name: str
    norm_name: str
    task: Task
    model: Model
    attention_name: str = "softmax"

    @classmethod
    def of(cls, params: Mapping[str, Any], task: str, norm: str, attention: str = "softmax") -> "Variant":
        """Return the variant by params.yaml. Raises InputError."""
        task_class = registry.load_task(task).TASK
        data = get_param(params, f"tasks.{task}.data", task_class)
        model = get_param(params, "model", Model)
        return cls(task, norm, data, model, attention)

    def network(self) -> Network:
        """Return the network. Raises InputError for an unknown or incomplete attention map or normaliser."""
        embedding = cast(Embedding, registry.load_embedding(self.task_name))
        attention = registry.load_attention(self.attention_name)
        norm = registry.load_norm(self.norm_name)
        if not isinstance(attention, Rescaled | Weighting):
            wanted = "LEARNABLE, and scale, as ssmax.py has, or weights, as length_gain.py has"
            raise InputError(f"{attention.__file__}: an attention map has {wanted}")
        if not isinstance(norm, Normaliser):
            raise InputError(f"{norm.__file__}: a normaliser has LEARNABLE and normalise, as ln.py has")
        return Network(embedding, attention, norm, self.model)

    def initial(self, training: TaskTraining) -> dict[str, Initial]:
        """Return how each tensor of one seed starts."""
        network = self.network()
        embedding = network.embedding.initial(self.task, training, self.model.width)
        return initial(network, embedding, self.task.num_classes)


def task_training(params: Mapping[str, Any], task: str) -> TaskTraining:
    """Return how params.yaml says that a task is trained. Raises InputError."""
    training: TaskTraining = get_param(params, f"tasks.{task}.training", registry.load_task(task).TRAINING)
    return training
