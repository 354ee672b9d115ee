"""Memory for fitting the adaptive temperature."""

from vanishing_variance.engine.device import device, free_gpu_memory
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.harness import parallel
from vanishing_variance.harness.memory import Need, Term
from vanishing_variance.measure.evaluation.fit import CANDIDATES, FitPlan
from vanishing_variance.measure.inference.memory import (
    DENSE,
    FLOAT,
    drawing_bytes,
    largest_batch,
    table_bytes,
    weight_bytes,
)
from vanishing_variance.measure.inference.models import ITEMS_IN_BATCH

# In numbers of the model's width, what the layers make of every candidate of a sequence; the bytes of an item beside
# its hidden layer, and for each class that it may have.
LAYERS, ITEM, CLASS = 6, 160, 12


def memory_needed(plan: FitPlan, training: TaskTraining, seeds: int) -> Need:
    """Return a coarse bound of the memory that `fit_block` needs, for `seeds` models."""
    width, longest = plan.variant.model.width, max(plan.lengths)
    model = weight_bytes(plan.variant, training) + table_bytes(plan.variant, training)
    items, batch = largest_batch(plan.lengths, plan.sequences, ITEMS_IN_BATCH[device().type])
    item = FLOAT * DENSE * width + CLASS * plan.variant.task.num_classes + ITEM
    of_width, long = {"model.width": width}, {"test.lengths": longest}
    fitted, block = {"temperature.sequences": plan.sequences}, {"seeds_per_block": seeds}
    return Need(
        name=f"temperature {plan.name}",
        data=(Term(drawing_bytes(plan.variant, longest), long),),
        tensors=(
            Term(2 * model, of_width),
            Term(item * items, long | of_width),
            Term(LAYERS * FLOAT * width * len(CANDIDATES) * batch, fitted | of_width),
        ),
        results=(
            Term(2 * seeds * model, of_width | block),
            Term(12 * FLOAT * seeds * plan.sequences * len(plan.lengths), fitted | block),  # mistakes
        ),
        processes=min(seeds, parallel.cores()),
        gpu=free_gpu_memory(),
    )
