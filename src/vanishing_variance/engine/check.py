"""The check of a normaliser and an attention map before training: what their functions return, and a batch.

S seeds, B sequences, H heads, N items, D width.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from numbers import Real
from types import ModuleType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.interfaces import Normaliser, Rescaled, Weighting, of_heads
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.steps import losses
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.by_value import copied, described
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import in_one_line

# Of the largest number of a column, what rounding may change in another.
ROUNDING = 1e-3
# Of the numbers that the functions are tried with.
SEEDS, SEQUENCES, ITEMS = 2, 6, 11
KEEPS = (
    "depends on what it was given before, so another model would be tested; keep nothing between calls, or give a "
    "normaliser as an nn.Module"
)
MIXED = "depends on other sequences or seeds, or on chance; compute along dim=-1"
Parameters = Mapping[str, Float[Tensor, "_ _ _"]]
# Calls a choice's function of numbers with what it has learned.
Call = Callable[[Any, Tensor, Parameters], Any]


def check_choices(plan: TrainingPlan, seed: int) -> None:
    """Raise InputError where a normaliser or an attention map does not do what it has to, or a step cannot be made."""
    torch.set_num_threads(1)  # as in training: several wait for each other
    if plan.is_given:  # what it keeps of these numbers must not be trained
        plan = copied(plan, f"copying {plan.name}")
    variant = plan.variant
    check_norm(variant.norm_name, variant.norm, variant.model.epsilon, variant.model.width)
    check_attention(variant.attention_name, variant.attention, variant.model.heads)
    seeds = [seed, seed ^ 1]
    weights = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, seeds)
    for tensor in weights.values():
        tensor.requires_grad_()
    batch, labels = next(batches(plan, seeds))
    with in_one_line(f"norm {variant.norm_name}, attention {variant.attention_name}: a training step"):
        losses(variant.network(), weights, batch, labels).mean(1).sum().backward()


def check_norm(name: str, norm: Normaliser, epsilon: float, width: int) -> None:
    """Raise InputError where `normalise` fails, returns other than (S, B, D), or depends on more than its argument."""

    def normalise(choice: Normaliser, outputs: Tensor, learned: Parameters) -> Any:
        return choice.normalise(outputs, learned, epsilon)

    _check(f"norm {name}: normalise", norm, normalise, (1, width), _learned(norm.LEARNABLE, width))


def check_attention(name: str, attention: Rescaled | Weighting, heads: int = 1) -> None:
    """Raise InputError where `weights` fails, returns other than (S, BH, N), or mixes; or `scale` is no factor."""

    def weights(choice: Weighting, logits: Tensor, learned: Parameters) -> Any:
        return choice.weights(logits, learned)

    rows = heads if isinstance(attention, Rescaled) else heads * SEQUENCES
    learned = {**_learned(attention.LEARNABLE, 1), **_learned(of_heads(attention), 1, rows)}
    if isinstance(attention, Rescaled):
        _check_scale(f"attention {name}: scale", attention, learned)
    else:
        _check(f"attention {name}: weights", attention, weights, (heads, ITEMS), learned)


def map_reads_order(attention: Any) -> bool:
    """Return whether the weight of an item depends on its place among the others."""
    if isinstance(attention, Rescaled) or not isinstance(attention, Weighting):
        return False
    learned = _of_seed(_learned({**attention.LEARNABLE, **of_heads(attention)}, 1), 0)
    logits = _numbers(1, SEQUENCES, ITEMS)
    order = torch.from_numpy(stream("check", "order").permutation(ITEMS))
    with suppress(Exception), torch.no_grad():  # which the check of the map says
        reordered = attention.weights(logits[..., order], learned)
        return mixes(attention.weights(logits, learned)[..., order], reordered)
    return False


def _check_scale(what: str, attention: Rescaled, learned: Parameters) -> None:
    """Raise InputError for what is no factor of all logits of a seed, or depends on other seeds."""
    with in_one_line(what), torch.no_grad():
        factors: list[Any] = [attention.scale(ITEMS, learned)]
        factors += [attention.scale(ITEMS, _of_seed(learned, seed)) for seed in range(SEEDS)]
    rows = max([1, *(tensor.shape[1] for tensor in learned.values())])
    shapes = (), (1, 1, 1), (1, rows, 1), (SEEDS, rows, 1), (SEEDS, 1, 1)
    for factor in factors:
        is_factor = isinstance(factor, Real) or (isinstance(factor, Tensor) and factor.is_floating_point())
        if not is_factor or tuple(getattr(factor, "shape", ())) not in shapes:
            raise InputError(f"{what} returns {_kind(factor)}; must be a number, or one a seed, {shapes[-1]}")
    beside, *alone = (torch.as_tensor(factor, dtype=torch.float32) for factor in factors)
    if mixes(beside.expand(SEEDS, rows, 1), torch.cat([factor.expand(1, rows, 1) for factor in alone])):
        raise InputError(f"{what} {MIXED}")
    copy = _copied(what, attention)
    first = _scales(what, copy, learned)
    before = _kept(copy)
    if not torch.equal(_scales(what, copy, learned), first) or _kept(copy) != before:
        raise InputError(f"{what} {KEEPS}")


def _scales(what: str, attention: Rescaled, learned: Parameters) -> Tensor:
    """Return the factors of two lengths."""
    with in_one_line(what), torch.no_grad():
        factors = [torch.as_tensor(attention.scale(items, learned)) for items in (ITEMS, 2 * ITEMS)]
        return torch.stack([factor.float() for factor in factors])


def _check(what: str, choice: Any, call: Call, size: tuple[int, int], learned: Parameters) -> None:
    """Raise InputError for a function of numbers (S, B rows, columns) that is none of each sequence, of their kind.

    Or that depends on numbers of other calls. `size`: the rows of a sequence and the columns.
    """
    rows, columns = size
    copies = [_copied(what, choice) for _ in range(2)]
    numbers = _numbers(SEEDS, SEQUENCES * rows, columns)
    half = numbers.shape[1] // 2
    with in_one_line(what), torch.no_grad():
        returned = call(choice, numbers.clone(), learned)
        if _kind(returned) != _kind(numbers):
            raise InputError(f"{what} returns {_kind(returned)}; must be {_kind(numbers)}, as what it is given")
        for seed, part in product(range(SEEDS), (slice(half), slice(half, None))):
            alone = call(choice, numbers[seed : seed + 1, part].clone(), _of_seed(learned, seed, part))
            if mixes(returned[seed : seed + 1, part], alone):
                raise InputError(f"{what} {MIXED}")
    others = numbers.flip(1) * 2
    if isinstance(choice, Weighting):  # which may be given more items
        others = torch.cat((others, others), dim=-1)
    _check_kept(what, copies, call, (numbers, others), learned)


def _check_kept(
    what: str, copies: Sequence[Any], call: Call, samples: tuple[Tensor, Tensor], learned: Parameters
) -> None:
    """Raise InputError where a choice keeps something of a training step that decides what it returns later.

    `copies`: two that have not been called.
    """
    numbers, others = samples
    seen, not_seen = copies
    _trained(what, call, not_seen, numbers, learned)
    before = _kept(not_seen)
    returned = _trained(what, call, not_seen, numbers, learned)
    is_kept = _kept(not_seen) != before
    _trained(what, call, seen, others, learned)
    after_others = _trained(what, call, seen, numbers, learned)
    if is_kept or _differ(returned, after_others):
        raise InputError(f"{what} {KEEPS}")


def _differ(one: Any, other: Any) -> bool:
    return isinstance(one, Tensor) and _kind(one) == _kind(other) and mixes(one, other)


def _numbers(*shape: int) -> Tensor:
    return torch.from_numpy(stream("check", *shape).standard_normal(shape, dtype="float32"))


def _trained(what: str, call: Call, choice: Any, numbers: Tensor, learned: Parameters) -> Any:
    """Call a function as training does, differentiate what it returns, and return that."""
    learned = {name: tensor.clone().requires_grad_() for name, tensor in learned.items()}
    with in_one_line(what), torch.enable_grad():
        returned = call(choice, numbers.clone().requires_grad_() * 1, learned)
        if isinstance(returned, Tensor) and returned.requires_grad:
            returned.sum().backward()
    return returned.detach() if isinstance(returned, Tensor) else returned


def _copied(what: str, choice: Any) -> Any:
    """Return a copy of a choice, of a file one that shares the functions."""
    return choice if isinstance(choice, ModuleType) else copied(choice, what)


def _kept(choice: Any) -> bytes:
    """Return what a choice keeps, of a file what its names are; nothing where that cannot be seen."""
    is_file = isinstance(choice, ModuleType)
    held = {name: value for name, value in vars(choice).items() if name[:2] != "__"} if is_file else choice
    with suppress(Exception):  # of any kind: of its class's own code
        return described(held)
    return b""


def mixes(beside: Float[Tensor, "... B C"], alone: Float[Tensor, "... B C"]) -> bool:
    """Return whether numbers beside other sequences are others than alone, by more than rounding, a column each."""
    largest = beside.nan_to_num(0, 0, 0).abs().amax(-2, keepdim=True)
    rounding = ROUNDING * largest + 1e-3 * ROUNDING * largest.median()
    alike = (beside - alone).abs() <= rounding
    alike |= beside == alone  # infinite
    alike |= beside.isnan() & alone.isnan()
    return not alike.all()


def _learned(initial: Mapping[str, float], size: int, rows: int = 1) -> Parameters:
    """Return initial values, and others near them for each other seed and row."""
    near = 1 + torch.arange(SEEDS * rows).view(SEEDS, rows, 1) / 8 / rows
    return {name: (near * value + near - 1).expand(SEEDS, rows, size).clone() for name, value in initial.items()}


def _of_seed(learned: Parameters, seed: int, rows: slice = slice(None)) -> Parameters:
    """Return what a seed has learned, of some rows where each has its own."""
    of_seed = {name: tensor[seed : seed + 1] for name, tensor in learned.items()}
    return {name: tensor[:, rows] if tensor.shape[1] > 1 else tensor for name, tensor in of_seed.items()}


def _kind(returned: Any) -> str:
    """Return dtype and shape of a tensor, or the name of another type."""
    if not isinstance(returned, Tensor):
        return type(returned).__name__
    return f"{str(returned.dtype).removeprefix('torch.')} {tuple(returned.shape)}"
