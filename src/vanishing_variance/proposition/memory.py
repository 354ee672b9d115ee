"""Memory for checking Proposition 1."""

from collections.abc import Sequence

from vanishing_variance.core import parallel
from vanishing_variance.core.device import free_gpu_memory
from vanishing_variance.core.memory import Need, Term
from vanishing_variance.core.sequence_memory import sequence_bytes
from vanishing_variance.core.task import TaskTraining
from vanishing_variance.inference.memory import DOUBLE, FLOAT, largest_batch, table_bytes, weight_bytes
from vanishing_variance.model.variant import Variant
from vanishing_variance.proposition.config import Proposition
from vanishing_variance.proposition.measurement import ITEMS_AT_ONCE

# O of every sequence of a length: in parts, as one, and its differences from the mean.
OUTPUTS = 3.5
# The hidden layer of the items that are gone through at once, on its way to O; a class is picked by a number for each.
HIDDEN, PICKED = 7.5, 12
# Of every item its numbers and its logit, in bytes; of every sequence what the layers make of it.
ITEM, LAYERS = 60, 6
# The logits of all items and what becomes of them.
LOGITS = 5


def memory_needed(variants: Sequence[tuple[Variant, TaskTraining]], how: Proposition, seeds: int) -> Need:
    """Return the memory that `measurement.measure` needs for variants, the weights of all `seeds` held."""
    width, longest = variants[0][0].model.width, max(how.lengths)
    models = [weight_bytes(*one) for one in variants]
    of_width, long = {"model.width": width}, {"proposition.lengths": longest}
    items, batch = largest_batch(how.lengths, how.sequences, ITEMS_AT_ONCE)
    # As many items are drawn as there may be, whatever is asked.
    drawing = max(1, ITEMS_AT_ONCE / longest) * max(sequence_bytes(variant.task, longest)[0] for variant, _ in variants)
    return Need(
        name="proposition",
        data=(
            Term(OUTPUTS * how.sequences * DOUBLE * width, {"proposition.sequences": how.sequences} | of_width),
            Term(drawing, long),
            Term(max(_enumerated(variant) for variant, _ in variants), of_width),
        ),
        tensors=(
            Term(2 * max(models) + 2 * max(table_bytes(*one) for one in variants), of_width),
            Term(ITEM * items + LAYERS * FLOAT * width * batch, long | of_width),
        ),
        results=(Term(2 * seeds * sum(models), of_width | {"seeds_per_block": seeds}),),
        processes=min(len(variants), parallel.cores()),
        gpu=free_gpu_memory(),
    )


def _enumerated(variant: Variant) -> float:
    """Return the bytes that expectations over all items need."""
    parts = variant.task.enumerate_iid()
    numbers: list[int] = [max(array.shape[-1] for array in part.values()) for part in parts]
    each = FLOAT * HIDDEN * variant.model.width + PICKED * variant.task.num_classes
    return max(numbers) * each + LOGITS * DOUBLE * sum(numbers)
