"""Memory for comparing `ln` models with the `std` models made of them."""

from collections.abc import Sequence

from vanishing_variance.engine.device import device, free_gpu_memory
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.memory import Need, Term
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.memory import FLOAT, dense_bytes, largest_batch, table_bytes, weight_bytes
from vanishing_variance.measure.inference.models import ITEMS_IN_BATCH

# The two models, and the one in double precision of which the other is made.
COPIES = 5
# Of every item its numbers and its logit, in bytes; of every sequence what the layers make of it.
ITEM, LAYERS = 30, 12


def memory_needed(variants: Sequence[tuple[Variant, TaskTraining]], test: Test, seeds: int) -> Need:
    """Return the memory that `comparison.compare` needs for one variant after another, the weights of all held."""
    width, long = {"model.width": variants[0][0].model.width}, {"test.lengths": test.lengths[-1]}
    items, batch = largest_batch(test.lengths, test.sequences, ITEMS_IN_BATCH[device().type])
    models = [weight_bytes(*one) for one in variants]
    return Need(
        name="capacity",
        tensors=(
            Term(COPIES * max(models) + 2 * max(table_bytes(*one) for one in variants), width),
            Term(ITEM * items + LAYERS * FLOAT * batch * variants[0][0].model.width, long | width),
            Term(dense_bytes(variants[0][0].model.width), width),
        ),
        results=(Term(2 * seeds * sum(models), width | {"seeds_per_block": seeds}),),
        gpu=free_gpu_memory(),
    )
