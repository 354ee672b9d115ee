"""One variant of the experiment: a task and a normaliser, and the network they make."""

from dataclasses import dataclass

from vanishing_variance import norms, registry
from vanishing_variance.errors import InputError
from vanishing_variance.model import inputs
from vanishing_variance.model.initialisation import SCHEMES, Initial
from vanishing_variance.model.network import Network, initial
from vanishing_variance.params.experiment import Model
from vanishing_variance.tasks.base import Task, TaskTraining


@dataclass(frozen=True)
class Variant:
    """Names and parameters only, so that it can be sent to another process."""

    task_name: str
    norm_name: str
    task: Task
    model: Model

    def network(self) -> Network:
        """The network. Raises InputError for an unknown or incomplete normaliser."""
        norm = registry.load(norms, self.norm_name)
        for name in ("LEARNABLE", "normalise"):
            if not hasattr(norm, name):
                raise InputError(
                    f"{norm.__file__}: has no {name}; a normaliser has LEARNABLE and normalise, as ln.py has"
                )
        return Network(registry.load(inputs, self.task_name), norm, self.model)

    def initial(self, training: TaskTraining) -> dict[str, Initial]:
        """How each tensor of one seed starts."""
        network, scheme = self.network(), SCHEMES[self.model.initialisation]
        entry = network.inputs.initial(self.task, training, self.model.width, scheme)
        return initial(entry, self.model, self.task.labels, network.norm)
