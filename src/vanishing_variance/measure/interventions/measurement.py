"""Every intervention in every model of a block of one variant.

S seeds, B sequences.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd

from vanishing_variance.engine.device import device
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TARGET
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.inference.models import Models, StoredWeights, select_models
from vanishing_variance.measure.inference.sequences import Read, first, of_length, of_training_lengths
from vanishing_variance.measure.interventions import setting
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.moments import is_correct
from vanishing_variance.measure.interventions.names import BASE, NOTHING, WITHOUT_TARGET
from vanishing_variance.measure.interventions.parts import take_apart

COLUMNS = ["task", "range", "norm", "seed", "length", "intervention", "where", "accuracy"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """Trained models of one variant and range, and of its `partner`, whose target weights they are given.

    `sequences`: those that are tested, by length. Seeds are paired: the same place has the same seed in both.
    """

    range_name: str
    trained: Range
    variant: Variant
    weights: StoredWeights
    partner: Variant
    partner_weights: StoredWeights
    sequences: Mapping[int, Read]


def intervene(block: Block, seeds: Sequence[int], settings: Interventions, root_seed: int) -> pd.DataFrame:
    """Return the accuracies under every intervention: COLUMNS, length 0 for the training lengths, fractions.

    Random streams are those of the task, range and length: all variants get the same sequences and donors.
    On a CPU one seed at a time, over the cores; on a GPU all seeds at once.
    """
    together = 1 if device().type == "cpu" else len(seeds)
    jobs: list[parallel.Job] = []
    for start in range(0, len(seeds), together):
        places = slice(start, start + together)
        weights = select_models(block.weights, places)
        part = replace(block, weights=weights, partner_weights=select_models(block.partner_weights, places))
        jobs.append(partial(_measure, part, seeds[places], settings, root_seed))
    variant = block.variant
    name = f"interventions {variant.task_name}-{block.range_name}-{variant.norm_name}"
    with Progress(name, len(block.sequences) * len(jobs), "lengths") as progress:
        accuracies = parallel.run(jobs, progress)
    return pd.DataFrame(chain(*accuracies), columns=COLUMNS)


def _measure(
    block: Block, seeds: Sequence[int], settings: Interventions, root_seed: int, report: parallel.Report
) -> list[Row]:
    """Return the rows of accuracies."""
    variant, range_name = block.variant, block.range_name
    models = Models.of(variant, block.weights)
    partner = Models.of(block.partner, block.partner_weights)
    rng_of = partial(stream, root_seed, "interventions", variant.task_name)
    about = {"task": variant.task_name, "range": range_name, "norm": variant.norm_name}

    # of the training lengths: those tested, and those calibrated on
    sample = partial(of_training_lengths, lengths=block.trained, batch_size=models.batch_size)
    short = list(sample(models.task, rng_of("tested", range_name), settings.training_sequences))
    others = list(sample(models.task, rng_of("calibration", range_name), settings.training_sequences))
    short_parts = take_apart(models, short)
    training = setting.calibrate(models, take_apart(models, others))
    base = is_correct(models, short_parts.context, short_parts.labels)
    accuracies = _accuracies(about | {"length": 0}, seeds, [(BASE, NOTHING, base)])

    for length, read in block.sequences.items():
        size = models.batch_size(length)
        tested = list(first(read, settings.sequences, size))
        new = list(of_length(models.task, rng_of("calibration", length), settings.sequences, length, size))
        parts = take_apart(models, tested)
        long = setting.calibrate(models, take_apart(models, new))
        rng = rng_of("drawn", range_name, length)
        donors = setting.draw_donors(rng, len(parts.labels), settings, models.network.model.heads)
        partner_weight = take_apart(partner, tested).weight
        outcomes = [
            *setting.on_long(models, parts, long, training, partner_weight, donors),
            *setting.on_training(models, short_parts, long, training, donors),
        ]
        if TARGET not in tested[0]:
            outcomes = [outcome for outcome in outcomes if outcome[0] in WITHOUT_TARGET]
        accuracies += _accuracies(about | {"length": length}, seeds, outcomes)
        report(1)
    return accuracies


def _accuracies(about: Row, seeds: Sequence[int], outcomes: Iterable[setting.Outcome]) -> list[Row]:
    """Return a row a seed and intervention."""
    rows = []
    for name, where, correct in outcomes:
        means = correct.double().mean(1).tolist()
        for seed, mean in zip(seeds, means, strict=True):
            row = {"seed": seed, "intervention": name, "where": where, "accuracy": round(mean, 6)}
            rows.append(about | row)
    return rows
