"""The variance of O over sequences of i.i.d. items, beside what theory says of it.

S seeds, B sequences, N items, D width.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64

from vanishing_variance.engine.attention import attend
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import Sequences
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.proposition.config import Proposition
from vanishing_variance.measure.proposition.expectation import expected
from vanishing_variance.statistics.moments import variance

# Sequences are drawn and attended to this many items at a time, or one by one where they are longer.
ITEMS_AT_ONCE = 2**18


@dataclass(frozen=True)
class Trained:
    """A block of models of one variant, of which the first is looked at."""

    variant: Variant
    weights: Mapping[str, Float[np.ndarray, "S ..."]]


def measure(trained: Sequence[Trained], how: Proposition, root: int) -> pd.DataFrame:
    """Return one row a model, length and feature d: task, norm, feature, length, n (sequences), and as float32

    `variance` of O_d over sequences and its standard error, `variance_se`; `predicted`, what the delta method makes of
    it for large N; `bound`, the paper's N (max A)^2 sigma_d^2 (Appendix A) with the mean of N (max A)^2 over sequences,
    since the largest attention weight differs between them; `item_variance`, sigma_d^2.

    Sequences are independent between lengths, and the same for all normalisers. The models go over the cores.
    """
    jobs: list[Job] = [
        partial(_measure, one.variant, {name: array[:1] for name, array in one.weights.items()}, how, root)
        for one in trained
    ]
    with Progress("proposition", len(jobs) * len(how.lengths), "lengths") as progress:
        frames: list[pd.DataFrame] = parallel.run(jobs, progress)
    return pd.concat(frames, ignore_index=True)


def _measure(
    variant: Variant, weights: Mapping[str, np.ndarray], how: Proposition, root: int, report: Report
) -> pd.DataFrame:
    models = Models.of(variant, weights)
    theory = expected(models, variant.task.enumerate_iid)
    parts = []
    for length in how.lengths:
        rng = stream(root, "proposition", variant.task_name, length)
        draw = partial(variant.task.sample_iid, rng, length=length)
        outputs, largest = _outputs(models, _pieces(draw, how.sequences, length))
        measured, error = variance(outputs)
        columns = {
            "variance": measured,
            "variance_se": error,
            "predicted": theory.constant / length,
            "bound": length * np.square(largest).mean() * theory.item_variance,
            "item_variance": theory.item_variance,
        }
        names = {"task": variant.task_name, "norm": variant.norm_name, "feature": range(len(measured))}
        numbers = {name: values.astype(np.float32) for name, values in columns.items()}
        parts.append(pd.DataFrame({**names, "length": length, "n": len(outputs), **numbers}))
        report(1)
    return pd.concat(parts, ignore_index=True)


@torch.no_grad()
def _outputs(
    models: Models, pieces: Iterator[Sequences]
) -> tuple[Float64[np.ndarray, "B D"], Float64[np.ndarray, " B"]]:
    """Return O of one model, and the largest attention weight of each sequence."""
    outputs, largest = [], []
    for piece in pieces:
        logits, context = attend(*models.encode(piece))
        outputs.append(models.network.outputs(models.weights, context)[0].double().cpu())
        largest.append((logits.amax(-1) - logits.logsumexp(-1)).exp()[0].double().cpu())
    return torch.cat(outputs).numpy(), torch.cat(largest).numpy()


def _pieces(draw: Callable[..., Sequences], sequences: int, length: int) -> Iterator[Sequences]:
    """Yield `sequences` sequences, drawn a fixed number at a time: a larger `sequences` begins as a smaller one."""
    size = max(1, ITEMS_AT_ONCE // length)
    for drawn_before in range(0, sequences, size):
        drawn = draw(sequences=size)
        yield {name: array[: sequences - drawn_before] for name, array in drawn.items()}
