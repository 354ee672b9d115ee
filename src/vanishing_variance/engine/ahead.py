"""Training batches for a GPU: drawn by threads while it computes, in pinned memory.

S seeds, B sequences a batch.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from vanishing_variance.engine.batches import STEPS_PER_DRAW, LabelledBatch, batches
from vanishing_variance.engine.device import device
from vanishing_variance.engine.plan import TrainingPlan


def training_batches(plan: TrainingPlan, seeds: Sequence[int], completed: int = 0) -> Iterator[LabelledBatch]:
    """Return what `batches` yields, on a GPU drawn ahead; on a CPU threads would take the cores from the training."""
    if device().type == "cpu":
        return batches(plan, seeds, completed)
    return batches_ahead(plan, seeds, completed)


def batches_ahead(plan: TrainingPlan, seeds: Sequence[int], completed: int = 0) -> Iterator[LabelledBatch]:
    """Yield what `batches` yields, the next STEPS_PER_DRAW of them drawn while these are read, seeds side by side."""
    with ThreadPoolExecutor() as of_seeds, ThreadPoolExecutor(1) as ahead:
        data = batches(plan, seeds, completed, of_seeds.map)
        coming = ahead.submit(_pinned, data)
        while True:
            ready = coming.result()
            coming = ahead.submit(_pinned, data)
            yield from ready


def _pinned(data: Iterator[LabelledBatch]) -> list[LabelledBatch]:
    """Return the next batches, from which a GPU can copy without waiting."""
    drawn = list(islice(data, STEPS_PER_DRAW))
    if device().type == "cpu":
        return drawn
    pinned = []
    for batch, labels in drawn:
        pinned.append(({name: array.pin_memory() for name, array in batch.items()}, labels.pin_memory()))
    return pinned
