"""Memory for checking Proposition 1."""

from collections.abc import Sequence

from vanishing_variance.engine.device import free_gpu_memory
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.memory import Need, Term
from vanishing_variance.measure.inference.memory import FLOAT, drawing_bytes, largest_batch, table_bytes, weight_bytes
from vanishing_variance.measure.proposition.config import Proposition
from vanishing_variance.measure.proposition.measurement import ITEMS_AT_ONCE

# In numbers of the model's width, O of every sequence, several times in double precision, what the layers make of a
# sequence of a batch, and the hidden layer of an item that expectations go through; the bytes of an item, and for each
# class that it may have.
OUTPUTS, LAYERS, HIDDEN, ITEM, CLASS = 8, 6, 8, 60, 12


def memory_needed(variants: Sequence[tuple[Variant, TaskTraining]], how: Proposition, seeds: int) -> Need:
    """Return a coarse bound of the memory that `measure` needs for variants, the weights of all `seeds` held."""
    width, longest = variants[0][0].model.width, max(how.lengths)
    models = [weight_bytes(*one) + table_bytes(*one) for one in variants]
    of_width, long = {"model.width": width}, {"proposition.lengths": longest}
    items, batch = largest_batch(how.lengths, how.sequences, ITEMS_AT_ONCE)
    enumerated = [
        [array.shape[-1] for part in one.task.enumerate_iid() for array in part.values()] for one, _ in variants
    ]
    classes = max(variant.task.num_classes for variant, _ in variants)
    return Need(
        name="proposition",
        data=(
            Term(OUTPUTS * FLOAT * width * how.sequences, {"proposition.sequences": how.sequences} | of_width),
            Term(max(drawing_bytes(variant, longest) for variant, _ in variants), long),
        ),
        tensors=(
            Term(2 * max(models) + (HIDDEN * FLOAT * width + CLASS * classes) * max(map(max, enumerated)), of_width),
            Term(ITEM * items + LAYERS * FLOAT * width * batch, long | of_width),
        ),
        results=(Term(2 * seeds * sum(models), of_width | {"seeds_per_block": seeds}),),
        processes=min(len(variants), parallel.cores()),
        gpu=free_gpu_memory(),
    )
