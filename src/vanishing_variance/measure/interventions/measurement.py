"""Every intervention in every model of a block.

S seeds, B sequences.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor

from vanishing_variance.engine.device import device
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.inference.models import Models, StoredWeights, over_heads, select_models
from vanishing_variance.measure.inference.sequences import Read, first, of_length, of_training_lengths
from vanishing_variance.measure.interventions import setting
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.moments import is_correct
from vanishing_variance.measure.interventions.names import BASE, NOTHING
from vanishing_variance.measure.interventions.parts import Batch, Parts, flattened, take_apart
from vanishing_variance.measure.interventions.readings import BETAS, EDGES

COLUMNS = ["task", "range", "norm", "seed", "length", "intervention", "where", "accuracy"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """The trained models of one task and range, a variant a normaliser, with their weights; `none` is one of them.

    `sequences`: those that are tested, by length. Seeds are paired: the same place has the same seed in all.
    """

    range_name: str
    trained: Range
    variants: Mapping[str, Variant]
    weights: Mapping[str, StoredWeights]
    sequences: Mapping[int, Read]


def intervene(
    groups: Sequence[Group], seeds: Sequence[int], settings: Interventions, root_seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the accuracies under every intervention, and the counts of correct answers by the target's weight.

    The first: COLUMNS, length 0 for the training lengths, accuracy as a fraction. The second: for `readings.read_out`.
    On a CPU one seed at a time, over the cores; on a GPU all seeds at once.
    """
    together = 1 if device().type == "cpu" else len(seeds)
    jobs: list[parallel.Job] = []
    for group in groups:
        for start in range(0, len(seeds), together):
            places = slice(start, start + together)
            weights = {norm: select_models(stored, places) for norm, stored in group.weights.items()}
            part = replace(group, weights=weights)
            jobs.append(partial(_measure_group, part, seeds[places], settings, root_seed))
    lengths = sum(len(group.sequences) for group in groups)
    with Progress("interventions", lengths * len(seeds) // together, "lengths") as progress:
        results = parallel.run(jobs, progress)
    accuracies, counts = zip(*results, strict=True)
    table = pd.DataFrame(chain(*accuracies), columns=COLUMNS)
    return table.sort_values(COLUMNS[:-1], ignore_index=True), pd.concat(counts, ignore_index=True)


def partner(norm: str, norms: Sequence[str]) -> str:
    """Return the variant whose target weights a variant is given: `none`; for `none` itself, `ln` or the last."""
    if norm != "none":
        return "none"
    return "ln" if "ln" in norms else norms[-1]


@dataclass(frozen=True)
class _Trained:
    """Models of one variant, with sequences of the training lengths: those tested, and those calibrated on."""

    about: Row
    models: Models
    tested: list[Batch]
    parts: Parts
    calibration: setting.Calibration


def _measure_group(
    group: Group, seeds: Sequence[int], settings: Interventions, root_seed: int, report: parallel.Report
) -> tuple[list[Row], pd.DataFrame]:
    """Return the rows of accuracies, and the counts."""
    task_name = group.variants["none"].task_name
    rng_of = partial(stream, root_seed, "interventions", task_name)
    trained = {norm: _trained(group, norm, settings, rng_of) for norm in group.variants}
    accuracies: list[Row] = []
    counts: list[pd.DataFrame] = []
    for ours in trained.values():
        models, parts = ours.models, ours.parts
        base = is_correct(models, parts.context, parts.labels)
        accuracies += _accuracies(ours.about | {"length": 0}, seeds, [(BASE, NOTHING, base)])
        for beta in BETAS:
            weight, context = flattened(models, ours.tested, beta)
            correct = is_correct(models, context, parts.labels)
            counts.append(counted(ours.about | {"sample": "flattened", "length": 0}, seeds, weight, correct))

    none = trained["none"].models
    for length, read in group.sequences.items():
        size = none.batch_size(length)
        tested = list(first(read, settings.sequences, size))
        new = list(of_length(none.task, rng_of("calibration", length), settings.sequences, length, size))
        long_parts = {norm: take_apart(ours.models, tested) for norm, ours in trained.items()}
        num_tested = len(long_parts["none"].labels)
        rng = rng_of("drawn", group.range_name, length)
        donors = setting.draw_donors(rng, num_tested, settings, none.network.model.heads)
        for norm, ours in trained.items():
            models, training = ours.models, ours.calibration
            long = setting.calibrate(models, take_apart(models, new))
            other_weight = long_parts[partner(norm, list(trained))].weight
            outcomes = [
                *setting.on_long(models, long_parts[norm], long, training, other_weight, donors),
                *setting.on_training(models, ours.parts, long, training, donors),
            ]
            _, _, base = outcomes[0]
            accuracies += _accuracies(ours.about | {"length": length}, seeds, outcomes)
            about = ours.about | {"sample": "tested", "length": length}
            counts.append(counted(about, seeds, long_parts[norm].weight, base))
        report(1)
    return accuracies, pd.concat(counts)


def _trained(group: Group, norm: str, settings: Interventions, rng_of: Callable[..., np.random.Generator]) -> _Trained:
    variant = group.variants[norm]
    models = Models.of(variant, group.weights[norm])
    sample = partial(of_training_lengths, lengths=group.trained, batch_size=models.batch_size)
    tested = list(sample(models.task, rng_of("tested", group.range_name), settings.training_sequences))
    others = list(sample(models.task, rng_of("calibration", group.range_name), settings.training_sequences))
    about = {"task": variant.task_name, "range": group.range_name, "norm": norm}
    parts = take_apart(models, tested)
    calibration = setting.calibrate(models, take_apart(models, others))
    return _Trained(about, models, tested, parts, calibration)


def _accuracies(about: Row, seeds: Sequence[int], outcomes: Iterable[setting.Outcome]) -> list[Row]:
    """Return a row a seed and intervention."""
    rows = []
    for name, where, correct in outcomes:
        means = correct.double().mean(1).tolist()
        for seed, mean in zip(seeds, means, strict=True):
            row = {"seed": seed, "intervention": name, "where": where, "accuracy": round(mean, 6)}
            rows.append(about | row)
    return rows


def counted(about: Row, seeds: Sequence[int], weight: Tensor, correct: Tensor) -> pd.DataFrame:
    """Return `about`, seed, bin of the target's weight (S, BH), a mean over heads, its sequences and the right ones."""
    mean_weight = over_heads(weight, correct.shape[1]).cpu().numpy()
    inner_edges = EDGES[1:-1]
    columns = {
        "seed": np.repeat(seeds, mean_weight.shape[1]),
        "bin": np.digitize(mean_weight, inner_edges).ravel(),
        "right": correct.cpu().numpy().ravel(),
    }
    by_bin = pd.DataFrame(columns).groupby(["seed", "bin"])["right"]
    counts = by_bin.agg(sequences="size", right="sum").reset_index()
    return pd.DataFrame([about]).merge(counts, how="cross")
