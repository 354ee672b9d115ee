"""Every intervention in every model of a block of one variant.

S seeds, B sequences.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd

from vanishing_variance.engine.device import device
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TARGET
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.config import Interventions
from vanishing_variance.measure.inference.models import Models, StoredWeights, select_models
from vanishing_variance.measure.inference.sequences import Read, first, of_length, of_training_lengths
from vanishing_variance.measure.interventions import setting
from vanishing_variance.measure.interventions.moments import is_correct
from vanishing_variance.measure.interventions.names import BASE, NOTHING, WITHOUT_TARGET
from vanishing_variance.measure.interventions.parts import take_apart

COLUMNS = ["seed", "length", "intervention", "where", "accuracy"]

Row = dict[str, Any]


class Trained(NamedTuple):
    """Models of the fast engine: the plan and the weights, (S, ...) each."""

    plan: TrainingPlan
    weights: StoredWeights


def intervene(
    models: Trained,
    partner: Trained,
    sequences: Mapping[int, Read],
    seeds: Sequence[int],
    settings: Interventions,
) -> pd.DataFrame:
    """Return the accuracies under every intervention: COLUMNS, length 0 for the training lengths, fractions.

    `partner`: models of the same seeds, whose target weights these are given; `sequences`: those tested, by length.

    Random streams are those of the task, range and length: all variants get the same sequences and donors.
    On a CPU one seed at a time, over the cores; on a GPU all seeds at once.
    """
    together = 1 if device().type == "cpu" else len(seeds)
    jobs: list[parallel.Job] = []
    for start in range(0, len(seeds), together):
        places = slice(start, start + together)
        some, others = (one._replace(weights=select_models(one.weights, places)) for one in (models, partner))
        jobs.append(partial(_measure, some, others, sequences, seeds[places], settings))
    with Progress(f"interventions {models.plan.name}", len(sequences) * len(jobs), "lengths") as progress:
        accuracies = parallel.run(jobs, progress)
    return pd.DataFrame(chain(*accuracies), columns=COLUMNS)


def _measure(
    trained: Trained,
    others: Trained,
    sequences: Mapping[int, Read],
    seeds: Sequence[int],
    settings: Interventions,
    report: parallel.Report,
) -> list[Row]:
    """Return the rows of accuracies."""
    plan = trained.plan
    range_name = plan.range_name
    models, partner = (Models.of(one.plan.variant, one.weights) for one in (trained, others))
    for of, one in ((trained, models), (others, partner)):
        if not one.network.rescaled:  # whatever else its file calls `scale`
            said = f"attention {of.plan.variant.attention_name} is no softmax"
            raise InputError(f"{said}, of which alone interventions are; leave them out of measure")
    rng_of = partial(stream, plan.root_seed, "interventions", plan.variant.task_name)

    # of the training lengths: those tested, and those calibrated on
    sample = partial(of_training_lengths, lengths=plan.lengths, batch_size=models.batch_size)
    short = list(sample(models.task, rng_of("tested", range_name), settings.training_sequences))
    new = list(sample(models.task, rng_of("calibration", range_name), settings.training_sequences))
    short_parts = take_apart(models, short)
    training = setting.calibrate(models, take_apart(models, new))
    base = is_correct(models, short_parts.context, short_parts.labels)
    accuracies = _accuracies(0, seeds, [(BASE, NOTHING, base)])

    for length, read in sequences.items():
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
        accuracies += _accuracies(length, seeds, outcomes)
        report(1)
    return accuracies


def _accuracies(length: int, seeds: Sequence[int], outcomes: Iterable[setting.Outcome]) -> list[Row]:
    """Return a row a seed and intervention."""
    rows = []
    for name, where, correct in outcomes:
        means = correct.double().mean(1).tolist()
        for seed, mean in zip(seeds, means, strict=True):
            row = {"seed": seed, "length": length, "intervention": name, "where": where}
            rows.append(row | {"accuracy": round(mean, 6)})
    return rows
