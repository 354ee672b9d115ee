"""Every intervention in every model of a block.

S seeds, B sequences.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd
from jaxtyping import Bool, Float
from torch import Tensor

from vanishing_variance.engine.device import device
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.inference.models import Models, StoredWeights, select_models
from vanishing_variance.measure.inference.sequences import Read, first, of_length, of_training_lengths
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.moments import is_correct
from vanishing_variance.measure.interventions.names import BASE, NOTHING
from vanishing_variance.measure.interventions.parts import Batch, flattened, take_apart
from vanishing_variance.measure.interventions.readings import BETAS, counted
from vanishing_variance.measure.interventions.setting import Outcome, calibrate, draw_donors, on_long, on_training

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
    jobs: list[Job] = []
    for group in groups:
        for start in range(0, len(seeds), together):
            places = slice(start, start + together)
            weights = {norm: select_models(stored, places) for norm, stored in group.weights.items()}
            jobs.append(partial(_measure_group, replace(group, weights=weights), seeds[places], settings, root_seed))
    lengths = sum(len(group.sequences) for group in groups)
    with Progress("interventions", lengths * len(seeds) // together, "lengths") as progress:
        results = parallel.run(jobs, progress)
    accuracies = [row for rows, _ in results for row in rows]
    counts = [row for _, rows in results for row in rows]
    table = pd.DataFrame(accuracies, columns=COLUMNS).sort_values(COLUMNS[:-1], ignore_index=True)
    return table, pd.DataFrame(counts)


def partner(norm: str, norms: Sequence[str]) -> str:
    """Return the variant whose target weights a variant is given: `none` for the others, for `none` `ln` or the last.

    `norms`: `none`, and then the treatment as the last; where there is no other variant, its own.
    """
    if norm != "none":
        return "none"
    return "ln" if "ln" in norms else norms[-1]


def _measure_group(
    group: Group, seeds: Sequence[int], settings: Interventions, root_seed: int, report: Report
) -> tuple[list[Row], list[Row]]:
    """Return the rows of accuracies and of counts."""
    by_norm = {norm: Models.of(variant, group.weights[norm]) for norm, variant in group.variants.items()}
    none, task_name = by_norm["none"], group.variants["none"].task_name
    about = {norm: {"task": task_name, "range": group.range_name, "norm": norm} for norm in by_norm}
    rng_of = partial(stream, root_seed, "interventions", task_name)
    accuracies: list[Row] = []
    counts: list[Row] = []

    def new_training_sequences(name: str) -> list[Batch]:
        rng = rng_of(name, group.range_name)
        return list(of_training_lengths(none.task, rng, settings.training_sequences, group.trained, none.batch_size))

    short = new_training_sequences("tested")
    short_parts = {norm: take_apart(models, short) for norm, models in by_norm.items()}
    calibration = new_training_sequences("calibration")
    training = {norm: calibrate(models, take_apart(models, calibration)) for norm, models in by_norm.items()}
    for norm, models in by_norm.items():
        parts = short_parts[norm]
        base = is_correct(models, parts.context, parts.labels)
        accuracies += _accuracies(about[norm] | {"length": 0}, seeds, [(BASE, NOTHING, base)])
        for beta in BETAS:
            weight, context = flattened(models, short, beta)
            correct = is_correct(models, context, parts.labels)
            counts += _counts(about[norm] | {"sample": "flattened", "length": 0}, seeds, weight, correct)

    for length, read in group.sequences.items():
        size = none.batch_size(length)
        tested = list(first(read, settings.sequences, size))
        long_parts = {norm: take_apart(models, tested) for norm, models in by_norm.items()}
        new = list(of_length(none.task, rng_of("calibration", length), settings.sequences, length, size))
        donors = draw_donors(rng_of("drawn", group.range_name, length), len(long_parts["none"].labels), settings)
        for norm, models in by_norm.items():
            parts = long_parts[norm]
            long = calibrate(models, take_apart(models, new))
            other_weight = long_parts[partner(norm, list(by_norm))].weight
            outcomes = chain(
                on_long(models, parts, long, training[norm], other_weight, donors),
                on_training(models, short_parts[norm], long, training[norm], donors),
            )
            accuracies += _accuracies(about[norm] | {"length": length}, seeds, outcomes)
            base = is_correct(models, parts.context, parts.labels)
            counts += _counts(about[norm] | {"sample": "tested", "length": length}, seeds, parts.weight, base)
        report(1)
    return accuracies, counts


def _accuracies(about: Row, seeds: Sequence[int], outcomes: Iterable[Outcome]) -> list[Row]:
    """Return a row a seed and intervention."""
    rows = []
    for name, where, correct in outcomes:
        means = correct.double().mean(1).tolist()
        for seed, mean in zip(seeds, means, strict=True):
            row = {"seed": seed, "intervention": name, "where": where, "accuracy": round(mean, 6)}
            rows.append(about | row)
    return rows


def _counts(about: Row, seeds: Sequence[int], weight: Float[Tensor, "S B"], correct: Bool[Tensor, "S B"]) -> list[Row]:
    """Return a row a seed and bin of the target's weight."""
    return [about | row for row in counted(seeds, weight.cpu().numpy(), correct.cpu().numpy())]
