"""Inside the first model of a block, for Figures 2 to 4.

B sequences, D width.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.parallel import Report
from vanishing_variance.measure.config import Diagnostics
from vanishing_variance.measure.inference.models import Models, StoredWeights, joined, over_heads
from vanishing_variance.measure.inference.sequences import sample_batches

# Figure 2 shows this many individual features of O, Figure 4 this many of the largest attention weights.
FEATURES_SHOWN = 5
LARGEST_WEIGHTS = 16


@torch.no_grad()
def diagnose(
    variant: Variant,
    weights: StoredWeights,
    lengths: Sequence[int],
    settings: Diagnostics,
    root_seed: int,
    report: Report,
) -> dict[str, pd.DataFrame]:
    """Measure inside one model (S = 1) at every length, on sequences of a stream of their own; tidy frames by name.

    `moments`: length, where (`before` or `after` the normaliser), and of the global mean and global variance of O
    (Section 2: over the D features of one output), the mean over sequences and its standard error.
    `features`: length, where, feature, value: individual features of O, one row a sequence and feature.
    `attention`: length, sequence, rank (from 1), weight: the largest attention weights, means over the heads.
    """
    models = Models.of(variant, weights)
    moments, features, attention = [], [], []
    for length in lengths:
        rng = stream(root_seed, "diagnostics", variant.task_name, length)
        batches = []
        for batch in sample_batches(models.task, rng, settings.sequences, length, models.batch_size(length)):
            attended = models.attended(batch)
            by_head = attended.weights.topk(min(LARGEST_WEIGHTS, length)).values
            largest = over_heads(by_head, attended.before.shape[1])
            batches.append({"before": attended.before, "after": attended.after, "largest": largest})
        measured = joined(batches)
        for where in ("before", "after"):
            [outputs] = measured[where]
            moments.append({"length": length, "where": where, **_moments(torch.from_numpy(outputs).double())})
            features.append(_feature_rows(outputs[:, :FEATURES_SHOWN], length, where))
        [weights_of_sequences] = measured["largest"]
        attention.append(_attention_rows(weights_of_sequences[: settings.heatmap_sequences], length))
        report(1)
    return {
        "moments": pd.DataFrame(moments),
        "features": pd.concat(features, ignore_index=True),
        "attention": pd.concat(attention, ignore_index=True),
    }


def _moments(outputs: Float[Tensor, "B D"]) -> dict[str, float]:
    """Return the mean over sequences of the global mean and variance of outputs, with its standard error."""
    sqrt_sequences = len(outputs) ** 0.5
    mean, variance = outputs.mean(1), outputs.var(1, correction=0)
    return {
        "mean": mean.mean().item(),
        "mean_se": mean.std().item() / sqrt_sequences,
        "variance": variance.mean().item(),
        "variance_se": variance.std().item() / sqrt_sequences,
    }


def _feature_rows(values: Float[np.ndarray, "B features"], length: int, where: str) -> pd.DataFrame:
    _, feature = np.indices(values.shape, dtype=np.int8)
    columns = {"feature": feature.ravel(), "value": values.ravel()}
    return pd.DataFrame({"length": length, "where": where, **columns})


def _attention_rows(weights: Float[np.ndarray, "B ranks"], length: int) -> pd.DataFrame:
    sequence, place = np.indices(weights.shape)
    columns = {"sequence": sequence.ravel(), "rank": place.ravel() + 1, "weight": weights.ravel()}
    return pd.DataFrame({"length": length, **columns})
