"""Inside the first model of a block, for Figures 2 to 4.

B sequences, D width.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.attention import attend
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.parallel import Report
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.inference.models import Models, StoredWeights
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
    `attention`: length, sequence, rank (from 1), weight: the largest attention weights.
    """
    models = Models.of(variant, weights)
    moments, features, attention = [], [], []
    for length in lengths:
        rng = stream(root_seed, "diagnostics", variant.task_name, length)
        all_before, all_after, all_largest = [], [], []
        for batch in sample_batches(models.task, rng, settings.sequences, length, models.batch_size(length)):
            logits, context = attend(*models.encode(batch))
            before, after = models.outputs(context)
            attention_weights = torch.softmax(logits[0], dim=-1)
            all_before.append(before[0].cpu())
            all_after.append(after[0].cpu())
            all_largest.append(attention_weights.topk(min(LARGEST_WEIGHTS, length)).values.cpu())
        for where, batches in (("before", all_before), ("after", all_after)):
            outputs = torch.cat(batches).double()
            moments.append({"length": length, "where": where, **_moments(outputs)})
            features.append(_feature_rows(outputs[:, :FEATURES_SHOWN].numpy(), length, where))
        largest = torch.cat(all_largest)[: settings.heatmap_sequences]
        attention.append(_attention_rows(largest.numpy(), length))
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
    columns = {"length": length, "where": where, "feature": feature.ravel(), "value": values.ravel().astype(np.float32)}
    return pd.DataFrame(columns)


def _attention_rows(weights: Float[np.ndarray, "B ranks"], length: int) -> pd.DataFrame:
    sequence, rank = np.indices(weights.shape).reshape(2, -1)
    return pd.DataFrame({"length": length, "sequence": sequence, "rank": rank + 1, "weight": weights.ravel()})
