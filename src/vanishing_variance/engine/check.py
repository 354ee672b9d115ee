"""The check of a normaliser and an attention map before training: what their functions return, and a batch.

S seeds, B sequences, H heads, N items, D width.
"""

from collections.abc import Callable, Mapping
from itertools import product
from numbers import Real
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.interfaces import Normaliser, Rescaled, Weighting
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import in_one_line

# Of the largest number, what rounding may change in another.
ROUNDING = 1e-3
# Of the numbers that the functions are tried with.
SEEDS, SEQUENCES, ITEMS = 2, 6, 11
MIXED = "depends on other sequences or seeds, or on chance; compute along dim=-1"
Parameters = Mapping[str, Float[Tensor, "_ 1 _"]]


def check_choices(plan: TrainingPlan, seed: int) -> None:
    """Raise InputError where a normaliser or an attention map does not do what it has to, or does not take a batch."""
    torch.set_num_threads(1)  # as in training: several wait for each other
    variant = plan.variant
    check_norm(variant.norm_name, variant.norm, variant.model.epsilon, variant.model.width)
    check_attention(variant.attention_name, variant.attention, variant.model.heads)
    seeds = [seed, seed ^ 1]
    weights = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, seeds)
    batch, _ = next(batches(plan, seeds))
    with in_one_line(f"norm {variant.norm_name}, attention {variant.attention_name}: a batch"), torch.no_grad():
        variant.network()(weights, batch)


def check_norm(name: str, norm: Normaliser, epsilon: float, width: int) -> None:
    """Raise InputError where `normalise` fails, returns other than (S, B, D), or mixes sequences or seeds."""

    def normalise(outputs: Tensor, learned: Parameters) -> Any:
        return norm.normalise(outputs, learned, epsilon)

    _check(f"norm {name}: normalise", normalise, (1, width), _learned(norm.LEARNABLE, width))


def check_attention(name: str, attention: Rescaled | Weighting, heads: int = 1) -> None:
    """Raise InputError where `weights` fails, returns other than (S, BH, N), or mixes; or `scale` is no factor."""
    learned = _learned(attention.LEARNABLE, 1)
    if isinstance(attention, Rescaled):
        _check_scale(f"attention {name}: scale", attention, learned)
    else:
        _check(f"attention {name}: weights", attention.weights, (heads, ITEMS), learned)


def _check_scale(what: str, attention: Rescaled, learned: Parameters) -> None:
    """Raise InputError for what is no factor of all logits of a seed, or depends on other seeds."""
    with in_one_line(what), torch.no_grad():
        factors: list[Any] = [attention.scale(ITEMS, learned)]
        factors += [attention.scale(ITEMS, _of_seed(learned, seed)) for seed in range(SEEDS)]
    shapes = (), (1, 1, 1), (SEEDS, 1, 1)
    for factor in factors:
        is_factor = isinstance(factor, Real) or (isinstance(factor, Tensor) and factor.is_floating_point())
        if not is_factor or tuple(getattr(factor, "shape", ())) not in shapes:
            raise InputError(f"{what} returns {_kind(factor)}; must be a number, or one a seed, {shapes[-1]}")
    beside, *alone = (torch.as_tensor(factor, dtype=torch.float32) for factor in factors)
    if mixes(beside.expand(SEEDS, 1, 1), torch.stack([factor.flatten() for factor in alone]).unsqueeze(-1)):
        raise InputError(f"{what} {MIXED}")


def _check(
    what: str, function: Callable[[Tensor, Parameters], Any], size: tuple[int, int], learned: Parameters
) -> None:
    """Raise InputError for a function of numbers (S, B rows, columns) that is none of each sequence, of their kind.

    `size`: the rows of a sequence and the columns.
    """
    rows, columns = size
    shape = SEEDS, SEQUENCES * rows, columns
    numbers = torch.from_numpy(stream("check", *shape).standard_normal(shape, dtype="float32"))
    half = shape[1] // 2
    with in_one_line(what), torch.no_grad():
        returned = function(numbers.clone(), learned)
        if _kind(returned) != _kind(numbers):
            raise InputError(f"{what} returns {_kind(returned)}; must be {_kind(numbers)}, as what it is given")
        for seed, part in product(range(SEEDS), (slice(half), slice(half, None))):
            alone = function(numbers[seed : seed + 1, part].clone(), _of_seed(learned, seed))
            if mixes(returned[seed : seed + 1, part], alone):
                raise InputError(f"{what} {MIXED}")


def mixes(beside: Float[Tensor, "... B C"], alone: Float[Tensor, "... B C"]) -> bool:
    """Return whether numbers beside other sequences are others than alone, by more than rounding."""
    rounding = ROUNDING * float(beside.nan_to_num().abs().max())
    return not torch.allclose(beside, alone, rtol=0, atol=rounding, equal_nan=True)


def _learned(initial: Mapping[str, float], size: int) -> Parameters:
    """Return initial values, and others near them for each other seed."""
    of_seeds = 1 + torch.arange(SEEDS).view(SEEDS, 1, 1) / 8
    return {name: (of_seeds * value + of_seeds - 1).expand(SEEDS, 1, size).clone() for name, value in initial.items()}


def _of_seed(learned: Parameters, seed: int) -> Parameters:
    return {name: tensor[seed : seed + 1] for name, tensor in learned.items()}


def _kind(returned: Any) -> str:
    """Return dtype and shape of a tensor, or the name of another type."""
    if not isinstance(returned, Tensor):
        return type(returned).__name__
    return f"{str(returned.dtype).removeprefix('torch.')} {tuple(returned.shape)}"
