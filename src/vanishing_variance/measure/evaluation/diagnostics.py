"""A look inside the first model of a block, for Figures 2 to 4.

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
from vanishing_variance.harness.parallel import Report
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.inference.sequences import sample_batches

# Figure 2 shows this many individual features of O, Figure 4 this many of the largest attention weights.
FEATURES_SHOWN = 5
LARGEST_WEIGHTS = 16


@torch.no_grad()
def diagnose(
    models: Models,
    task_name: str,
    lengths: Sequence[int],
    how: Diagnostics,
    root: int,
    report: Report = lambda lengths: None,
) -> dict[str, pd.DataFrame]:
    """Look inside one model (S = 1) at every length, on sequences of a stream of their own; tidy frames by name.

    `moments`: length, where (`before` or `after` the normaliser), and of the global mean and global variance of O
    (Section 2: over the D features of one output), the mean over sequences and its standard error.
    `features`: length, where, feature, value: individual features of O, one row a sequence and feature.
    `attention`: length, sequence, rank (from 1), weight: the largest attention weights.
    """
    moments, features, attention = [], [], []
    for length in lengths:
        rng = stream(root, "diagnostics", task_name, length)
        outputs: dict[str, list[Tensor]] = {"before": [], "after": []}
        largest: list[Tensor] = []
        for part in sample_batches(models.task, rng, how.sequences, length, max(1, models.batch_items // length)):
            logits, context = attend(*models.encode(part))
            before = models.network.outputs(models.weights, context)
            outputs["before"].append(before[0].cpu())
            outputs["after"].append(models.network.normalise(models.weights, before)[0].cpu())
            if sum(map(len, largest)) < how.heatmap_sequences:
                weight = torch.softmax(logits[0], dim=-1)
                largest.append(weight.topk(min(LARGEST_WEIGHTS, length)).values.cpu())
        for where, parts in outputs.items():
            values = torch.cat(parts).double()
            moments.append({"length": length, "where": where, **_moments(values)})
            features.append(_feature_rows(values[:, :FEATURES_SHOWN].numpy(), length, where))
        attention.append(_attention_rows(torch.cat(largest)[: how.heatmap_sequences].numpy(), length))
        report(1)
    return {
        "moments": pd.DataFrame(moments),
        "features": pd.concat(features, ignore_index=True),
        "attention": pd.concat(attention, ignore_index=True),
    }


def _moments(outputs: Float[Tensor, "B D"]) -> dict[str, float]:
    """Return the mean over sequences of the global mean and variance of outputs, with its standard error."""
    root = len(outputs) ** 0.5
    mean, variance = outputs.mean(1), outputs.var(1, correction=0)
    return {
        "mean": mean.mean().item(),
        "mean_se": mean.std().item() / root,
        "variance": variance.mean().item(),
        "variance_se": variance.std().item() / root,
    }


def _feature_rows(values: Float[np.ndarray, "B features"], length: int, where: str) -> pd.DataFrame:
    sequences, shown = values.shape
    feature = np.tile(np.arange(shown, dtype=np.int8), sequences)
    columns = {"length": length, "where": where, "feature": feature, "value": values.ravel().astype(np.float32)}
    return pd.DataFrame(columns)


def _attention_rows(weights: Float[np.ndarray, "B ranks"], length: int) -> pd.DataFrame:
    sequences, ranks = weights.shape
    sequence, rank = np.divmod(np.arange(sequences * ranks), ranks)
    return pd.DataFrame({"length": length, "sequence": sequence, "rank": rank + 1, "weight": weights.ravel()})
