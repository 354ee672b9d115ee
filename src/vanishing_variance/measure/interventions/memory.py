"""Memory for interventions in trained models."""

from collections.abc import Sequence

from vanishing_variance.engine.device import device, free_gpu_memory
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.sequence_memory import sequence_bytes
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.memory import Need, Term
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.memory import FLOAT, dense_bytes, largest_batch, table_bytes, weight_bytes
from vanishing_variance.measure.inference.models import ITEMS_IN_BATCH
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.parts import DISTRACTORS

# Bytes of an item of a batch, and of the rows of tables of a model and length; in numbers of the model's width, what is
# kept of a sequence: the hidden layers of the largest distractors, and what else `Parts` has.
ITEM, ROWS, PARTS = 80, 100 * 2**10, DISTRACTORS + 5


def memory_needed(
    variants: Sequence[tuple[Variant, TaskTraining]],
    ranges: Sequence[Range],
    test: Test,
    how: Interventions,
    seeds: int,
) -> Need:
    """Return a coarse bound of the memory that `intervene` needs for a block of `seeds` of every variant and range."""
    together, width = 1 if device().type == "cpu" else seeds, variants[0][0].model.width
    norms, longest = len({variant.norm_name for variant, _ in variants}), max(one.longest for one in ranges)
    tasks = len({variant.task_name for variant, _ in variants})
    model = max(weight_bytes(*one) + table_bytes(*one) for one in variants)
    most = max(how.sequences, how.training_sequences)
    items, batch = largest_batch([*test.lengths, longest], most, ITEMS_IN_BATCH[device().type])
    # Both samples, tested and for calibration, of every normaliser, and those of a batch and put together.
    parts = (2 * norms + 4) * PARTS * FLOAT * width * together
    long, short = (
        2 * max(sequence_bytes(variant.task, length)[1] for variant, _ in variants)
        for length in (test.lengths[-1], longest)
    )
    of_width, tested = {"model.width": width}, {"interventions.sequences": how.sequences}
    training, block = {"interventions.training_sequences": how.training_sequences}, {"seeds_per_block": seeds}
    return Need(
        name="interventions",
        data=(
            Term(long * how.sequences, tested | {"test.lengths": test.lengths[-1]}),
            Term(short * how.training_sequences, training),
        ),
        tensors=(
            Term(2 * together * norms * model, of_width),
            Term(ITEM * items + PARTS * FLOAT * width * batch + dense_bytes(width), of_width),
            Term(parts * how.sequences, of_width | tested),
            Term(parts * how.training_sequences, of_width | training),
        ),
        results=(
            Term(2 * seeds * len(ranges) * len(variants) * model, of_width | block),
            Term(ROWS * seeds * len(ranges) * len(variants) * len(test.lengths), block),
        ),
        processes=min(tasks * len(ranges) * seeds, parallel.cores()),
        gpu=free_gpu_memory(),
    )
