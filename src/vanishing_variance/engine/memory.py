"""Memory for training.

S seeds in a process, B sequences a batch, N items of the longest sequence, D width, F features of a table's row.
"""

from collections.abc import Sequence
from math import ceil, prod

from vanishing_variance.engine.batches import STEPS_PER_DRAW
from vanishing_variance.engine.device import device, free_gpu_memory
from vanishing_variance.engine.kernels.attend import library
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.ranges import steps_key
from vanishing_variance.engine.sequence_memory import sequence_bytes
from vanishing_variance.harness import parallel
from vanishing_variance.harness.memory import Need, Term

FLOAT = 4
# Of the weights: they, their gradients, Adam's two moments, and what drawing them leaves behind. A checkpoint, for
# which a heap makes no room when a step has ended: all but the gradients, laid out twice. The results: gathered, put
# together, and written.
COPIES, IN_CHECKPOINT, OF_RESULTS = 5, 6, 3
# Tensors of less than 32 MiB come from a heap. Where many do, and lengths change, holes are left that fit no other: so
# many times what is in use, and no more than this.
HOLES, MOST_HOLES = 8, 1.25 * 2**30


def memory_needed(plan: TrainingPlan, seeds: Sequence[int]) -> Need:
    """Return the memory that `ensemble.train_block` needs; the last step's lengths are the longest there are."""
    training, lengths, model = plan.training, plan.lengths, plan.variant.model
    on_cpu = device().type == "cpu"
    together = min(len(seeds), training.seeds_per_process) if on_cpu else len(seeds)
    plain = not on_cpu or model.gelu != "exact" or library(model.width) is None
    initial, tables = plan.variant.initial(plan.task_training), plan.variant.network().embedding.SPARSE_TABLES
    weights = FLOAT * sum(prod(tensor.shape) for tensor in initial.values())
    features = sum(initial[name].shape[-1] for name in tables)

    every = {"seeds_per_block": len(seeds)}
    shared = {"training.seeds_per_process": training.seeds_per_process} if on_cpu else every
    longest = {"training.batch_size": training.batch_size, f"ranges.{plan.range_name}.longest": lengths.longest}
    of_task = {f"tasks.{plan.variant.task_name}.training.{name}": value for name, value in plan.task_training}
    steps = {steps_key(plan.variant.task_name, plan.range_name): plan.steps}
    width = {"model.width": model.width} | {name: of for name, of in of_task.items() if name.endswith("_width")}

    kept, most = sequence_bytes(plan.variant.task, (lengths.shortest + lengths.longest) / 2)
    often = min(1, 2 / (lengths.longest - lengths.shortest + 1))
    sequences = STEPS_PER_DRAW * training.batch_size
    # All seeds' as one array; while the last seed's of one length are drawn, what drawing takes.
    data = sequences * (together * kept + often * most)
    # All losses, and a copy in the checkpoint; tables have the factors of every step of Adam, made in double precision.
    history = plan.steps * (2 * FLOAT * together + (48 if features else 0))

    items = together * training.batch_size * lengths.longest
    if plain:
        # Autograd keeps what enters GELU and what leaves it, and has as much again three times while it goes back.
        per_item = FLOAT * (9 * model.width + 8 * features)
    else:
        # Numbers and logits; where items have rows of their own: these, as they enter, and the gradients of both.
        per_item = 16 + (FLOAT * (2 * features + 2 * model.width) + 24 if features else 0)
    # About as many layers' results and gradients.
    per_sequence = FLOAT * 24 * model.width
    activations = float(items * per_item + together * training.batch_size * per_sequence)
    if features and lengths.shortest < lengths.longest:
        activations += min(HOLES * activations, MOST_HOLES)
    return Need(
        name=f"train {plan.name}",
        data=(Term(data, longest | shared), Term(history, steps)),
        tensors=(
            Term(COPIES * together * weights, width | shared),
            Term(activations, longest | width | shared),
            Term(IN_CHECKPOINT * together * weights, width | shared),
        ),
        results=(Term(OF_RESULTS * len(seeds) * weights, every | width),),
        processes=min(ceil(len(seeds) / together), parallel.cores()),
        gpu=free_gpu_memory(),
    )
