"""The trial of a network before its training: its state can be kept, and is all that a step changes.

B sequences.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from vanishing_variance.engine.device import device
from vanishing_variance.engine.drawing import LABEL
from vanishing_variance.engine.trial import Model, check_attention, check_model, check_norm, samples
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.progress import say
from vanishing_variance.networks import AttentionMap, NormModule
from vanishing_variance.plain.gradients import Single, beside_state
from vanishing_variance.plain.model import Batch, PlainModel, initial_model
from vanishing_variance.plain.plan import PlainPlan, has_inside

# Of numbers that are trained, averaged and written.
DTYPES = torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool


def check_network(plan: PlainPlan, seed: int) -> None:
    """Raise InputError where a network cannot be trained, or another model would be tested than the one trained."""
    variant = plan.variant
    check_attention(variant.attention_name, variant.attention)
    for part in initial_model(plan, seed).modules():
        if isinstance(part, NormModule):
            check_norm(variant.norm_name, variant.norm, variant.model.epsilon, part.width)
    _check_trained(plan, seed)
    check_model(plan, partial(_model, plan, seed))
    _check_rules(plan, seed)
    _say_drawn(plan, seed)


def _check_trained(plan: PlainPlan, seed: int) -> None:
    """Raise InputError where a step uses numbers that training would leave as they are; say what it does not use."""
    model = initial_model(plan, seed).to(device()).train()
    norms = [part for part in model.modules() if isinstance(part, NormModule)]
    called: set[nn.Module] = set()
    for part in norms:
        part.register_forward_hook(lambda norm, *_: called.add(norm))
    reached: dict[int, Tensor] = {}
    for sample in samples(plan):
        with torch.random.fork_rng():
            of_two = [_leaves(_logits(model, sample)) for _ in range(2)]
        kept = {key: leaf for key, leaf in of_two[0].items() if key in of_two[1]}  # others are new in every step
        for key in kept.keys() - {id(parameter) for parameter in model.parameters()}:
            said = f"network {model.name}: a tensor {tuple(kept[key].shape)} asks for gradients and is no parameter"
            raise InputError(f"{said}, so it is not trained; use nn.Parameter, nn.ModuleList or nn.ModuleDict")
        reached |= of_two[0] | of_two[1]
    left = [name for name, tensor in model.named_parameters() if tensor.requires_grad and id(tensor) not in reached]
    if left:
        what = f"no gradient reached {', '.join(left)} in a trial: they may stay as they start"
        say(f"warning: network {model.name}: {what}")
    variant = plan.variant
    if variant.norm_name != "none" and not called and not variant.has_norm_of_modules:
        say(f"warning: network {model.name} does not call its norm, so {variant.norm_name} changes nothing")
    has_map = any(isinstance(part, AttentionMap) for part in model.modules())
    if variant.attention_name != "softmax" and not has_map:
        say(f"warning: network {model.name} makes no attention map, so {variant.attention_name} changes nothing")


def _logits(model: PlainModel, sample: Batch) -> Tensor:
    """Return the class logits of a sample."""
    class_logits: Tensor = model({name: array.to(device()) for name, array in sample.items() if name != LABEL})
    return class_logits


def _leaves(computed: Tensor) -> dict[int, Tensor]:
    """Return by `id` the tensors that would get a gradient of what was computed."""
    leaves, seen, left = {}, set(), [computed.grad_fn]
    while left:
        node: Any = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        left += [before for before, _ in node.next_functions]
        if type(node).__name__ == "AccumulateGrad":
            leaves[id(node.variable)] = node.variable
    return leaves


def _say_drawn(plan: PlainPlan, seed: int) -> None:
    """Say where the answers of a test are drawn."""
    model = initial_model(plan, seed).to(device()).eval()
    answers = []
    with torch.random.fork_rng(), torch.no_grad():
        for noise in (1, 2):
            torch.manual_seed(noise)
            answers.append(_logits(model, samples(plan)[0]).nan_to_num())
    if not torch.equal(*answers):
        what = "draws random numbers in a test, too; F.dropout needs training=self.training"
        say(f"warning: network {model.name} {what}")


def _check_rules(plan: PlainPlan, seed: int) -> None:
    """Raise InputError where attention is computed past the `rule` of its map, in whose place a test has others."""
    model = initial_model(plan, seed).to(device()).eval()
    maps = [part for part in model.modules() if isinstance(part, AttentionMap)]
    used: set[AttentionMap] = set()
    asked: set[AttentionMap] = set()

    def noting(
        of: set[AttentionMap], one: AttentionMap, call: Callable[..., Tensor], *args: Any, **named: Any
    ) -> Tensor:
        of.add(one)
        return call(*args, **named)

    for one in maps:
        one.rule = partial(noting, asked, one, one.of_map)
        one.__dict__["rescaled"] = partial(noting, used, one, one.rescaled)
        one.__dict__["of_map"] = partial(noting, used, one, one.of_map)
    with torch.random.fork_rng(), torch.no_grad():
        for sample in samples(plan):
            _logits(model, sample)
    if used - asked or (maps and not asked):
        said = f"network {model.name}: attention has a `rule`, as in a test, and is not asked for `weights`"
        raise InputError(f"{said}; call it with logits")


def _model(plan: PlainPlan, seed: int) -> Model:
    """Return the model of a seed, which in a test must be able to show its inside, too."""
    model = initial_model(plan, seed)
    _check_state(model)
    single = Single(model.to(device()))

    def parts(batch: Batch) -> dict[str, Tensor]:
        class_logits = model(batch)
        if not model.training and has_inside(plan.network):
            model.inside(batch)
        single.check_bound()
        return {"its answer": class_logits}

    remedy = "keep what changes in buffers, changed in place, and draw by torch alone"
    return Model(f"network {model.name}", model, parts, partial(beside_state, model), remedy)


def _check_state(model: PlainModel) -> None:
    """Raise InputError where a state lacks a parameter, or has a part that cannot be trained, copied or written."""
    state = model.state_dict(keep_vars=True)
    for name, tensor in state.items():
        _check_tensor(f"network {model.name}: {name}", tensor)
    for name, _ in model.named_parameters():
        if name not in state:
            raise InputError(f"network {model.name}: its state_dict lacks {name}, which would be lost")


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
