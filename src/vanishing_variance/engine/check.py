"""The check of a normaliser and an attention map before training: a batch of two seeds, and a part of it alone.

S seeds, B sequences, C classes.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import in_one_line

# Of the largest logit, what rounding may change in another.
ROUNDING = 1e-3


def check_choices(plan: TrainingPlan, seed: int) -> None:
    """Raise InputError where a normaliser or an attention map does not take a batch, or mixes seeds or sequences."""
    torch.set_num_threads(1)  # as in training: several wait for each other
    variant = plan.variant
    seeds = [seed, seed ^ 1]
    weights = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, seeds)
    batch, labels = next(batches(plan, seeds))
    names = f"norm {variant.norm_name}, attention {variant.attention_name}"
    with in_one_line(f"{names}: a batch"), torch.no_grad():
        logits = variant.network()(weights, batch)
        shape = (*labels.shape, variant.task.num_classes)
        if logits.shape != shape:
            raise InputError(
                f"{names}: logits are {tuple(logits.shape)}; must be {shape}, seeds, sequences and classes"
            )
        half = (labels.shape[1] + 1) // 2
        of_first = {name: tensor[:1] for name, tensor in weights.items()}
        alone = variant.network()(of_first, {name: array[:1, :half] for name, array in batch.items()})
    if mixes(logits[:1, :half], alone):
        raise InputError(f"{names}: an answer depends on other sequences or seeds of a batch; compute along dim=-1")


def mixes(beside: Float[Tensor, "... B C"], alone: Float[Tensor, "... B C"]) -> bool:
    """Return whether logits beside other sequences are others than alone, by more than rounding."""
    difference = (beside - alone).abs().max()
    return bool(difference > ROUNDING * beside.abs().max())
