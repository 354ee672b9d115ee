"""The variance of O over sequences of i.i.d. items, beside what theory says of it.

B sequences, N items, D width.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float64

from vanishing_variance.engine.attend import attend
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import Task
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.inference.models import Models, StoredWeights, joined, select_models
from vanishing_variance.measure.proposition.expectation import Expected, expected
from vanishing_variance.statistics.moments import variance

COLUMNS = ["feature", "length", "n", "variance", "variance_se", "predicted", "bound", "item_variance"]
# Sequences are drawn and attended to this many items at a time, or one by one where they are longer. Another number
# gives other sequences.
ITEMS_AT_ONCE = 2**18


def measure(
    variant: Variant, weights: StoredWeights, lengths: Sequence[int], sequences: int, root_seed: int
) -> pd.DataFrame:
    """Return one row a length and feature d of the first of a variant's models, COLUMNS.

    n: sequences; of single precision: `variance` of O_d over sequences and its standard error, `variance_se`;
    `predicted`, what the delta method makes of it for large N; `bound`, the paper's N (max A)^2 sigma_d^2 (Appendix A)
    with the mean of N (max A)^2 over sequences, since the largest attention weight differs between them;
    `item_variance`, sigma_d^2.

    Sequences are independent between lengths, and the same for all normalisers. The longest length, half of the work
    where each is twice the one before, has a core of its own.
    """
    first = select_models(weights, slice(1))
    jobs: list[parallel.Job] = []
    for some in (lengths[-1:], lengths[:-1]):
        jobs.append(partial(_measure, variant, first, some, sequences, root_seed))
    with Progress(f"proposition {variant.task_name}-{variant.norm_name}", len(lengths), "lengths") as progress:
        longest, others = parallel.run(jobs, progress)
    frames: list[pd.DataFrame] = [*others, *longest]
    return pd.concat(frames, ignore_index=True)[COLUMNS]


def _measure(
    variant: Variant,
    weights: StoredWeights,
    lengths: Sequence[int],
    sequences: int,
    root_seed: int,
    report: parallel.Report,
) -> list[pd.DataFrame]:
    models = Models.of(variant, weights)
    theories: dict[tuple[float, ...], Expected] = {}
    frames = []
    for length in lengths:
        of_heads = models.network.factor(models.weights, length, models.network.model.heads)
        factor = tuple(torch.as_tensor(of_heads).flatten().tolist())
        if factor not in theories:  # with the softmax it is 1 at every length
            theories[factor] = expected(models, variant.task.enumerate_iid, length)
        theory = theories[factor]
        rng = stream(root_seed, "proposition", variant.task_name, length)
        outputs, largest = _outputs(models, variant.task, rng, sequences, length)
        measured, error = variance(outputs)
        numbers = {
            "variance": measured,
            "variance_se": error,
            "predicted": theory.constant / length,
            "bound": length * np.square(largest).mean(axis=0) * theory.item_variance,
            "item_variance": theory.item_variance,
        }
        about = {"feature": range(len(measured)), "length": length, "n": len(outputs)}
        single = pd.DataFrame(numbers, dtype=np.float32).astype(np.float64)
        frames.append(pd.DataFrame(about).join(single))
        report(1)
    return frames


@torch.no_grad()
def _outputs(
    models: Models, task: Task, rng: np.random.Generator, sequences: int, length: int
) -> tuple[Float64[np.ndarray, "B D"], Float64[np.ndarray, "B D"]]:
    """Return O of one model, and of each feature the largest attention weight of its head, of each sequence."""
    batches = []
    together = max(1, ITEMS_AT_ONCE // length)
    for drawn_before in range(0, sequences, together):
        drawn = task.sample_iid(rng, together, length)
        left = sequences - drawn_before
        batch = {name: array[:left] for name, array in drawn.items()}
        logits, context = attend(*models.encode(batch))
        before, _ = models.outputs(context)
        log_largest = logits.amax(-1) - logits.logsumexp(-1)  # (1, B H)
        by_head = log_largest.exp().unflatten(1, (before.shape[1], -1))
        of_features = by_head.repeat_interleave(before.shape[2] // by_head.shape[2], dim=2)
        batches.append({"outputs": before, "largest": of_features})
    arrays = joined(batches)
    [outputs], [largest] = arrays["outputs"], arrays["largest"]
    return outputs.astype(np.float64), largest.astype(np.float64)
