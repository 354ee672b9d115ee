"""The gradients of one seed's model, or by `torch.func` those of several at once.

S seeds, B sequences.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from jaxtyping import Float, Int64, Shaped
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy

from vanishing_variance.harness.by_value import described
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.harness.progress import say
from vanishing_variance.plain.model import PlainModel

# What every module has beside its state: hooks and the like.
_OF_ANY_MODULE = vars(nn.Module()).keys()

Batch = Mapping[str, Shaped[Tensor, "S B ..."]]
Tensors = dict[str, Tensor]


class Single:
    """One model; `parameters` are trained, `weights` are its whole state: views by name, (1, ...) each."""

    def __init__(self, model: PlainModel) -> None:
        self._model = model
        self._trained = {name: tensor for name, tensor in model.named_parameters() if tensor.requires_grad}
        self.parameters = {name: tensor.detach().unsqueeze(0) for name, tensor in self._trained.items()}
        self.weights = {name: tensor.detach().unsqueeze(0) for name, tensor in model.state_dict().items()}

    def backward(self, batch: Batch, labels: Int64[Tensor, "S B"]) -> Float[Tensor, " S"]:
        """Return the loss in nats, and leave its gradients in `.grad`."""
        class_logits = self._model({name: array[0] for name, array in batch.items()})
        with in_one_line(f"network {self._model.name}: a training step"):
            loss = cross_entropy(class_logits, labels[0])
            loss.backward()
        for name, tensor in self._trained.items():
            if tensor.grad is not None:  # None: of a part that this batch did not use
                gradient = tensor.grad.to_dense()
                if gradient.stride() != tensor.stride():  # torch's fused Adam takes no other
                    gradient = torch.empty_like(tensor, requires_grad=False).copy_(gradient)
                self.parameters[name].grad = gradient.unsqueeze(0)
                tensor.grad = None
        return loss.detach().unsqueeze(0)

    def check_bound(self) -> None:
        """Raise InputError where `forward` has put another tensor in the place of one, or trains others."""
        trained = {name for name, tensor in self._model.named_parameters() if tensor.requires_grad}
        for name in trained ^ self._trained.keys():
            raise InputError(f"network {self._model.name}: forward changes whether {name} is trained; decide at first")
        state = self._model.state_dict()
        for name in [*state, *self.weights]:
            if name not in state or name not in self.weights or state[name].data_ptr() != self.weights[name].data_ptr():
                raise InputError(
                    f"network {self._model.name}: forward binds {name} anew, so another model would be tested; "
                    "change it in place, as by copy_"
                )


class Stacked:
    """Several models of one architecture, as `Single`; (S, ...) each."""

    def __init__(self, models: Sequence[PlainModel]) -> None:
        base = models[0]
        parameters, buffers = stack_module_state(list(models))
        # detached: else torch would also keep what it takes to differentiate the gradients
        self.parameters = {name: tensor.detach() for name, tensor in parameters.items() if tensor.requires_grad}
        self._fixed = {name: tensor for name, tensor in parameters.items() if not tensor.requires_grad} | buffers
        first_names = {id(tensor): name for name, tensor in [*base.named_parameters(), *base.named_buffers()]}
        self.weights = {}
        for name, tensor in base.state_dict(keep_vars=True).items():
            first_name = first_names[id(tensor)]  # of a tensor that has several
            self.weights[name] = (parameters | buffers)[first_name].detach()

        def loss(parameters: Tensors, fixed: Tensors, batch: Batch, labels: Tensor) -> Float[Tensor, ""]:
            return cross_entropy(functional_call(base, (parameters, fixed), (batch,)), labels)

        # which fails where random numbers are drawn: a seed's must not depend on the others
        self._gradients = vmap(grad_and_value(loss), randomness="error")

    def backward(self, batch: Batch, labels: Int64[Tensor, "S B"]) -> Float[Tensor, " S"]:
        """Return the losses in nats, and leave their gradients in `.grad`."""
        with sdpa_kernel(SDPBackend.MATH):  # faster ones do not take several models at once
            gradients, losses = self._gradients(self.parameters, self._fixed, batch, labels)
        for name, tensor in self.parameters.items():
            tensor.grad = gradients[name]
        return losses  # type: ignore[no-any-return]

    def check_bound(self) -> None:
        """Do nothing: what torch.func takes changes no state."""


Gradients = Single | Stacked


def can_stack(models: Sequence[PlainModel], batch: Batch, labels: Int64[Tensor, "S B"]) -> bool:
    """Return whether `torch.func` takes these models, and they differ in their state alone; else say why not."""
    reason = _why_apart(models)
    try:
        with torch.random.fork_rng():
            Stacked(models).backward(batch, labels)
    except Exception as problem:  # of any kind
        cause = problem.__cause__ or problem
        reason = f"torch.func refuses it: {type(cause).__name__}: {cause}".splitlines()[0]
    if reason:
        say(f"network {models[0].name}: one seed after another, for {reason}")
    return not reason


def _why_apart(models: Sequence[PlainModel]) -> str:
    """Return what the first model would do for the others, and they do otherwise, or what torch.func leaves out."""
    first = beside_state(models[0])
    for model in models:
        for name, value in beside_state(model).items():
            if _described(value) != _described(first.get(name)):
                return f"{name} is not the same for each"
        if any(hooks for part in model.modules() for name, hooks in vars(part).items() if name.endswith("_hooks")):
            return "it has hooks"
        if any(tensor._backward_hooks or tensor._post_accumulate_grad_hooks for tensor in model.parameters()):
            return "its parameters have hooks"
    return ""


def _described(value: Any) -> bytes | None:
    with suppress(Exception):  # of any kind: of its class's own code
        return described(value)
    return None


def beside_state(model: PlainModel) -> dict[str, Any]:
    """Return by name what modules hold beside parameters and buffers, and their classes' code."""
    held: dict[str, Any] = {}
    for path, module in model.named_modules():
        held[f"{path}.__class__"] = type(module)
        for name, value in vars(module).items():
            if name not in _OF_ANY_MODULE:
                held[f"{path}.{name}"] = value
    return held
