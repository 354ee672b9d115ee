"""Memory for interventions in trained models."""

from collections.abc import Sequence

from vanishing_variance.core import parallel
from vanishing_variance.core.device import device, free_gpu_memory
from vanishing_variance.core.memory import Need, Term
from vanishing_variance.core.ranges import Range
from vanishing_variance.core.sequence_memory import sequence_bytes
from vanishing_variance.core.task import TaskTraining
from vanishing_variance.held_out import Test
from vanishing_variance.inference.memory import FLOAT, largest_batch, table_bytes, weight_bytes
from vanishing_variance.inference.models import ITEMS_IN_BATCH
from vanishing_variance.interventions.config import Interventions
from vanishing_variance.interventions.parts import DISTRACTORS
from vanishing_variance.model.variant import Variant

# Of every item its numbers, its logit and what becomes of it, in bytes; of every sequence what the layers make of it.
ITEM, LAYERS = 72, 12
# Of every sequence the hidden layers that are kept: of the largest distractors, and of what the context is made of.
KEPT = 2 * (DISTRACTORS + 5)
# Of every model and length the rows of the tables, in bytes.
ROWS = 100 * 2**10


def memory_needed(
    variants: Sequence[tuple[Variant, TaskTraining]],
    ranges: Sequence[Range],
    test: Test,
    how: Interventions,
    seeds: int,
) -> Need:
    """Return a coarse bound of the memory that `intervene` needs for a block of `seeds` of every variant and range."""
    on_cpu, width = device().type == "cpu", {"model.width": variants[0][0].model.width}
    together, lengths = 1 if on_cpu else seeds, [*test.lengths, *(one.longest for one in ranges)]
    models = max(weight_bytes(*one) + table_bytes(*one) for one in variants)
    items, batch = largest_batch(lengths, how.sequences, ITEMS_IN_BATCH[device().type])
    # the tested and the calibration sequences of the longest length, and those of the training lengths
    numbers = sum(
        count * max(sequence_bytes(variant.task, length)[1] for variant, _ in variants)
        for count, length in ((2 * how.sequences, max(lengths)), (2 * how.training_sequences, ranges[-1].longest))
    )
    hidden = KEPT * FLOAT * variants[0][0].model.width * together * len(ranges)
    return Need(
        name="interventions",
        data=(Term(numbers, {"interventions.sequences": how.sequences, "test.lengths": test.lengths[-1]}),),
        tensors=(
            Term(2 * together * len(variants) * models, width),
            Term(ITEM * items + LAYERS * FLOAT * width["model.width"] * batch, width),
            Term(4 * hidden * how.sequences, width | {"interventions.sequences": how.sequences}),
            Term(4 * hidden * how.training_sequences, {"interventions.training_sequences": how.training_sequences}),
        ),
        results=(
            Term(2 * seeds * len(ranges) * len(variants) * models, width | {"seeds_per_block": seeds}),
            Term(ROWS * seeds * len(ranges) * len(variants) * len(test.lengths), {"seeds_per_block": seeds}),
        ),
        processes=min(len(ranges) * seeds, parallel.cores()),
        gpu=free_gpu_memory(),
    )
