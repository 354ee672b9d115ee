"""Memory for testing a block of models."""

from vanishing_variance.engine.device import device, free_gpu_memory
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.harness import parallel
from vanishing_variance.harness.memory import Need, Term
from vanishing_variance.measure.evaluation.block import EvaluationPlan
from vanishing_variance.measure.inference.memory import (
    FLOAT,
    dense_bytes,
    drawing_bytes,
    largest_batch,
    table_bytes,
    weight_bytes,
)
from vanishing_variance.measure.inference.models import ITEMS_IN_BATCH

# Bytes of an item of a batch; in numbers of the model's width, what the layers make of a sequence of it, and what is
# kept of every sequence of a length: O before and after the normaliser, several times, and rows of tables.
ITEM, LAYERS, KEPT = 80, 12, 30


def memory_needed(plan: EvaluationPlan, training: TaskTraining, seeds: int, sequences: int) -> Need:
    """Return a coarse bound of what `evaluate_block` needs, for `seeds` models and `sequences` a length."""
    together, width = 1 if device().type == "cpu" else seeds, plan.variant.model.width
    lengths, looked_at = [*plan.lengths, plan.training_lengths.longest], plan.diagnostics.sequences
    model = weight_bytes(plan.variant, training) + table_bytes(plan.variant, training)
    items, batch = largest_batch(lengths, max(sequences, looked_at), ITEMS_IN_BATCH[device().type])

    of_width, kept = {"model.width": width}, KEPT * FLOAT * width * together
    long = {"test.lengths": plan.lengths[-1], f"ranges.{plan.range_name}.longest": plan.training_lengths.longest}
    return Need(
        name=f"evaluate {plan.name}",
        data=(
            Term(drawing_bytes(plan.variant, max(lengths)), long),
            Term(kept * sequences, {"test.sequences": sequences} | of_width),
            Term(kept * looked_at, {"diagnostics.sequences": looked_at} | of_width),
        ),
        tensors=(
            Term(2 * together * model, of_width),
            Term(ITEM * items + LAYERS * FLOAT * width * batch, long | of_width),
            Term(dense_bytes(width), of_width),
        ),
        results=(Term(2 * seeds * model, of_width | {"seeds_per_block": seeds}),),
        processes=min(1 + seeds, parallel.cores()),
        gpu=free_gpu_memory(),
    )
