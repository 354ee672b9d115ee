"""Memory for fitting the adaptive temperature."""

from vanishing_variance.core import parallel
from vanishing_variance.core.device import device, free_gpu_memory
from vanishing_variance.core.memory import Need, Term
from vanishing_variance.core.task import TaskTraining
from vanishing_variance.fitting.fit import CANDIDATES, FitPlan
from vanishing_variance.inference.memory import DOUBLE, FLOAT, drawing_bytes, largest_batch, table_bytes, weight_bytes
from vanishing_variance.inference.models import ITEMS_IN_BATCH

# The hidden layer of all items of a batch, on its way into GELU and out of it; a class is picked by a number for each;
# numbers and logits beside it.
HIDDEN, PICKED, ITEM = 4, 12, 30
# What the layers make of every candidate of a sequence.
LAYERS = 6


def memory_needed(plan: FitPlan, training: TaskTraining, seeds: int) -> Need:
    """Return the memory that `fitting.fit_block` needs, for `seeds` models."""
    model, width, longest = weight_bytes(plan.variant, training), plan.variant.model.width, max(plan.lengths)
    items, batch = largest_batch(plan.lengths, plan.sequences, ITEMS_IN_BATCH[device().type])
    number = len(CANDIDATES)
    hidden = items * (FLOAT * (HIDDEN * width + number) + PICKED * plan.variant.task.num_classes + ITEM)
    candidates = batch * number * LAYERS * FLOAT * width

    of_width, long = {"model.width": width}, {"test.lengths": longest}
    fitted, block = {"temperature.sequences": plan.sequences}, {"seeds_per_block": seeds}
    return Need(
        name=f"temperature {plan.name}",
        data=(Term(drawing_bytes(plan.variant, longest), long),),
        tensors=(
            Term(2 * (model + table_bytes(plan.variant, training)), of_width),
            Term(hidden, long | of_width),
            Term(candidates, fitted | of_width),
        ),
        results=(
            Term(2 * seeds * model, of_width | block),
            # The entropy and the best candidate of every mistake, gathered and put together.
            Term(3 * 2 * DOUBLE * seeds * plan.sequences * len(plan.lengths), fitted | block),
        ),
        processes=min(seeds, parallel.cores()),
        gpu=free_gpu_memory(),
    )
