"""The check of a normaliser and an attention map before training: what their functions return, and a batch.

S seeds, B sequences, C classes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.interfaces import Rescaled
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import in_one_line

# Of the largest number, what rounding may change in another.
ROUNDING = 1e-3
# Of the arrays that the functions are tried with; both sizes are no other ones of a network.
SEEDS, SEQUENCES, ITEMS = 2, 6, 11
Parameters = Mapping[str, Float[Tensor, "S 1 _"]]


def check_choices(plan: TrainingPlan, seed: int) -> None:
    """Raise InputError where a function is none that `check_functions` takes, or the network does not take a batch."""
    torch.set_num_threads(1)  # as in training: several wait for each other
    variant = plan.variant
    check_functions(variant)
    seeds = [seed, seed ^ 1]
    weights = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, seeds)
    batch, _ = next(batches(plan, seeds))
    with in_one_line(f"norm {variant.norm_name}, attention {variant.attention_name}: a batch"), torch.no_grad():
        variant.network()(weights, batch)


def check_functions(variant: Variant) -> None:
    """Raise InputError where the function of a normaliser or of an attention map does not do what it has to.

    It fails, returns no tensor of the shape and dtype of what it is given, or mixes seeds or sequences.
    """
    norm, attention, width = variant.norm, variant.attention, variant.model.width

    def normalise(outputs: Tensor, learned: Parameters) -> Any:
        return norm.normalise(outputs, learned, variant.model.epsilon)

    _check(f"norm {variant.norm_name}: normalise", normalise, width, norm.LEARNABLE, width)
    name = f"attention {variant.attention_name}"
    if isinstance(attention, Rescaled):
        _check_scale(f"{name}: scale", attention)
    else:
        _check(f"{name}: weights", attention.weights, ITEMS, attention.LEARNABLE, 1)


def _check_scale(what: str, attention: Rescaled) -> None:
    """Raise InputError for a factor that is none for all sequences of a seed."""
    with in_one_line(what), torch.no_grad():
        factor: Any = attention.scale(ITEMS, _learned(attention.LEARNABLE, 1))
    one_each = torch.empty(SEEDS, 1, 1)
    if not isinstance(factor, int | float) and _kind(factor) != _kind(one_each):
        raise InputError(f"{what} returns {_kind(factor)}; must be a number, or one a seed, {_kind(one_each)}")


def _check(
    what: str,
    function: Callable[[Tensor, Parameters], Any],
    size: int,
    learnable: Mapping[str, float],
    learnable_size: int,
) -> None:
    """Raise InputError for a function of numbers (S, B, `size`) that is none of each sequence, of the same kind."""
    numbers = torch.from_numpy(stream("check", size).standard_normal((SEEDS, SEQUENCES, size), dtype="float32"))
    learned = _learned(learnable, learnable_size)
    half = SEQUENCES // 2
    with in_one_line(what), torch.no_grad():
        returned = function(numbers.clone(), learned)
        if _kind(returned) != _kind(numbers):
            raise InputError(f"{what} returns {_kind(returned)}; must be {_kind(numbers)}, as what it is given")
        alone = function(numbers[:1, :half].clone(), {name: tensor[:1] for name, tensor in learned.items()})
    if mixes(returned[:1, :half], alone):
        raise InputError(f"{what} depends on other sequences or seeds, or on chance; compute along dim=-1")


def mixes(beside: Float[Tensor, "... B C"], alone: Float[Tensor, "... B C"]) -> bool:
    """Return whether numbers beside other sequences are others than alone, by more than rounding."""
    rounding = ROUNDING * float(beside.nan_to_num().abs().max())
    return not torch.allclose(beside, alone, rtol=0, atol=rounding, equal_nan=True)


def _learned(initial: Mapping[str, float], size: int) -> Parameters:
    return {name: torch.full((SEEDS, 1, size), float(value)) for name, value in initial.items()}


def _kind(returned: Any) -> str:
    """Return dtype and shape of a tensor, or the name of another type."""
    if not isinstance(returned, Tensor):
        return type(returned).__name__
    return f"{str(returned.dtype).removeprefix('torch.')} {tuple(returned.shape)}"
