"""The check of a network before its training: its state can be kept, and is all that a step changes.

S seeds, B sequences.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from jaxtyping import Int64
from torch import Tensor
from torch.nn.parameter import is_lazy

from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.check import check_attention, check_norm, mixes
from vanishing_variance.engine.device import device
from vanishing_variance.engine.drawing import draw
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.by_value import copied, described
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.networks import NormModule
from vanishing_variance.plain.gradients import Batch, Single, beside_state
from vanishing_variance.plain.model import PlainModel, initial_model
from vanishing_variance.plain.plan import PlainPlan

# Of numbers that are trained, averaged and written.
DTYPES = torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool
# Sequences that answers are compared on, and a step along the gradient.
SEQUENCES, STEP = 8, 0.01
REMEDY = "keep what changes in buffers, changed in place, and draw by torch alone"

Bytes = dict[str, bytes]


def check_network(plan: PlainPlan, seed: int) -> None:
    """Raise InputError where a network cannot be trained, or another model would be tested than the one trained.

    On the first batch of a seed it makes a training step and answers, with given random numbers: at first, then from
    the same state again, and as a new model of the seed. What is different then depends on what is not in its state,
    which neither the test nor a training that goes on from a checkpoint has. An answer must leave the state alone, and
    be the same beside other sequences.
    """
    torch.set_num_threads(1)  # as in training: several wait for each other
    untouched = plan
    if plan.is_given:  # what it keeps of these numbers must not be trained
        plan = copied(plan, f"copying {plan.name}")
    variant = plan.variant
    check_attention(variant.attention_name, variant.attention)
    model = initial_model(plan, seed)
    for part in model.modules():
        if isinstance(part, NormModule):
            check_norm(variant.norm_name, variant.norm, variant.model.epsilon, part.width)
    state = model.state_dict(keep_vars=True)
    for name, tensor in state.items():
        _check_tensor(f"network {model.name}: {name}", tensor)
    for name, _ in model.named_parameters():
        if name not in state:
            raise InputError(f"network {model.name}: its state_dict lacks {name}, which would be lost")
    initial = {name: tensor.clone() for name, tensor in model.to(device()).state_dict().items()}
    batch, labels = next(batches(plan, [seed]))
    with torch.random.fork_rng():
        first = _trial(model, batch, labels)
        model.load_state_dict(initial)
        for same in (model, initial_model(plan, seed).to(device())):
            again = _trial(same, batch, labels)
            _check_alike(model, first, again, "is different when seed and state are the same", REMEDY)
        samples = [_sample(plan, length) for length in (plan.lengths.shortest, plan.lengths.longest)]
        for sample in samples:
            _check_alone(model, sample)
        _check_loaded(model, initial_model(untouched, seed).to(device()), samples)


def _check_alike(model: PlainModel, first: Bytes, again: Bytes, fault: str, remedy: str) -> None:
    for name in first | again:
        if first.get(name) != again.get(name):
            raise InputError(f"network {model.name}: {name} {fault}, so another model would be tested; {remedy}")


def _check_alone(model: PlainModel, one: Batch) -> None:
    """Raise InputError where the answer to a sequence depends on those beside it, but for one that is drawn."""
    some = {name: array[: (len(array) + 1) // 2] for name, array in one.items()}
    beside, again, alone = (_answer(model, batch, seed) for batch, seed in ((one, 0), (one, 1), (some, 0)))
    if torch.equal(beside, again) and mixes(beside[: len(alone)], alone):
        raise InputError(f"network {model.name}: an answer depends on other sequences of a batch; keep them apart")


def _sample(plan: PlainPlan, length: int) -> Mapping[str, Tensor]:
    """Return some sequences of a length."""
    sequences = draw(plan.variant.task, stream("check", "network", length), SEQUENCES, length)
    return {name: torch.from_numpy(array).to(device()) for name, array in sequences.items()}


def _check_loaded(model: PlainModel, loaded: PlainModel, samples: Sequence[Mapping[str, Tensor]]) -> None:
    """Raise InputError where a new model with the state of a trained one answers otherwise, in whatever order."""
    loaded.load_state_dict(model.state_dict())
    # with another noise than that of the training step
    again = [*samples, *samples]
    of_model, of_loaded = ([_answer(each, sample, 1) for sample in again] for each in (model, loaded.eval()))
    pairs = [*zip(of_model, of_loaded, strict=True), (of_loaded[0], of_loaded[len(samples)])]
    if not all(torch.equal(one.nan_to_num(), other.nan_to_num()) for one, other in pairs):
        fault = "what it keeps beside its state decides answers"
        raise InputError(f"network {model.name}: {fault}, so another model would be tested; {REMEDY}")


def _answer(model: PlainModel, batch: Batch, seed: int) -> Tensor:
    torch.manual_seed(seed)
    with torch.no_grad():
        logits: Tensor = model(batch)
    return logits


def _check_tensor(name: str, tensor: Any) -> None:
    """Raise InputError for a part of a state that cannot be trained, copied or written."""
    if not isinstance(tensor, Tensor):
        raise InputError(f"{name} is {shown(tensor)}; must be a tensor")
    if is_lazy(tensor):
        raise InputError(f"{name} has no size yet; must be of a module that is not lazy")
    if tensor.is_meta or tensor.layout != torch.strided:
        raise InputError(f"{name} is {tensor.layout} on {tensor.device}; must be torch.strided, and not on meta")
    if tensor.dtype not in DTYPES:
        raise InputError(f"{name} is {tensor.dtype}; must be one of {', '.join(map(str, DTYPES))}")
    if 0 in tensor.stride() and tensor.numel() > 1:
        raise InputError(f"{name} is expanded; must have memory of its own, as by clone()")
    if not _is_dense(tensor):
        raise InputError(f"{name} is a part of a larger tensor; must have memory of its own, as by contiguous()")


def _is_dense(tensor: Tensor) -> bool:
    """Return whether its numbers lie side by side, in whatever order: torch's fused Adam takes no others."""
    by_stride = sorted(zip(tensor.stride(), tensor.shape, strict=True))
    expected = 1
    for stride, size in by_stride:
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def _trial(model: PlainModel, batch: Batch, labels: Int64[Tensor, "S B"]) -> Bytes:
    """Return by name all that can be seen of a training step and an answer."""
    on_device = {name: array.to(device()) for name, array in batch.items()}
    one = {name: array[0] for name, array in on_device.items()}
    ensemble = Single(model)
    torch.manual_seed(0)
    model.train()
    with in_one_line(f"network {model.name}: a training step"):
        loss = ensemble.backward(on_device, labels.to(device()))
    with torch.no_grad():
        for tensor in ensemble.parameters.values():
            if tensor.grad is not None:
                tensor.sub_(STEP * tensor.grad)
    trained = _each_described(model.state_dict())
    model.eval()
    with torch.no_grad():
        answers = model(one)
        if hasattr(type(model.network), "inside"):
            model.inside(one)
    ensemble.check_bound()
    _check_alike(model, trained, _each_described(model.state_dict()), "changes in a test", "ask self.training first")
    return _each_described(dict(model.named_buffers()) | beside_state(model) | {"its answer": (answers, loss)})


def _each_described(values: Mapping[str, Any]) -> Bytes:
    """Return named values as bytes, but for what cannot be copied."""
    by_name = {}
    for name, value in values.items():
        if isinstance(value, Generator):
            raise InputError(f"{name} is a generator, which no copy can go on with; {REMEDY}")
        with suppress(Exception):  # of any kind: of its class's own code
            by_name[name] = described(value)
    return by_name
