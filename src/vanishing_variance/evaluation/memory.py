"""Memory for testing a block of models."""

from vanishing_variance.core import parallel
from vanishing_variance.core.device import device, free_gpu_memory
from vanishing_variance.core.memory import Need, Term
from vanishing_variance.core.task import TaskTraining
from vanishing_variance.evaluation.block import EvaluationPlan
from vanishing_variance.inference.memory import FLOAT, drawing_bytes, largest_batch, table_bytes, weight_bytes
from vanishing_variance.inference.models import ITEMS_IN_BATCH

# O of every sequence of a length, before and after the normaliser: in parts and as one, then in double precision.
TESTED, LOOKED_AT = 13, 10
# Of every item its numbers as they are stored and as they are read, its logit and what becomes of it, in bytes; of
# every sequence what the layers make of it.
ITEM, LAYERS = 72, 12
# A row of a table for each of some features and places.
ROWS = 400


def memory_needed(plan: EvaluationPlan, training: TaskTraining, seeds: int, sequences: int) -> Need:
    """Return the memory that `evaluation.evaluate_block` needs, for `seeds` models and `sequences` a length."""
    on_cpu, width, looked_at = device().type == "cpu", plan.variant.model.width, plan.diagnostics.sequences
    together = 1 if on_cpu else seeds
    lengths = [*plan.lengths, plan.trained.shortest, plan.trained.longest]
    model = weight_bytes(plan.variant, training)
    items, batch = largest_batch(lengths, max(sequences, looked_at), ITEMS_IN_BATCH[device().type])

    of_width, tested = {"model.width": width}, {"test.sequences": sequences}
    diagnosed = {"diagnostics.sequences": looked_at}
    long = {"test.lengths": plan.lengths[-1], f"ranges.{plan.range_name}.longest": plan.trained.longest}
    rows = ROWS * looked_at * len(plan.lengths)
    return Need(
        name=f"evaluate {plan.name}",
        data=(
            Term(TESTED * together * sequences * FLOAT * width, tested | of_width),
            Term(LOOKED_AT * together * looked_at * FLOAT * width + rows, diagnosed | of_width),
            Term(drawing_bytes(plan.variant, max(lengths)), long),
        ),
        tensors=(
            Term(2 * together * (model + table_bytes(plan.variant, training)), of_width),
            Term(ITEM * items + LAYERS * FLOAT * width * batch, long | of_width),
        ),
        results=(
            Term(2 * seeds * model, of_width | {"seeds_per_block": seeds}),
            Term(3 * 3 * seeds * sequences * len(plan.lengths), tested | {"seeds_per_block": seeds}),
            Term(2 * rows, diagnosed),
        ),
        processes=min(1 + seeds, parallel.cores()),
        gpu=free_gpu_memory(),
    )
