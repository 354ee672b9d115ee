"""Every intervention in every model of a block.

S seeds, B sequences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from vanishing_variance.engine.device import device
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.columns import PARQUET
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.inference.models import Models, Read
from vanishing_variance.measure.inference.sequences import of_length, of_training_lengths
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.moments import correct
from vanishing_variance.measure.interventions.names import BASE, NOTHING
from vanishing_variance.measure.interventions.parts import Batch, Parts, flattened
from vanishing_variance.measure.interventions.readings import BETAS, counted
from vanishing_variance.measure.interventions.sequences import drawn, first
from vanishing_variance.measure.interventions.setting import Calibration, on_long, on_training

Weights = Mapping[str, Float[np.ndarray, "S ..."]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """The trained models of one task and range, a variant a normaliser, with their weights; `none` is one of them.

    `sequences`: those that are tested, by length. Seeds are paired: the same place has the same seed in all.
    """

    range_name: str
    trained: Range
    variants: Mapping[str, Variant]
    weights: Mapping[str, Weights]
    sequences: Mapping[int, Read]


def intervene(
    groups: Sequence[Group], seeds: Sequence[int], how: Interventions, root: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the accuracies under every intervention, and the counts of right answers by the target's weight.

    The first: task, range, norm, seed, length (0: the training lengths), intervention, where, accuracy, a fraction. The
    second: `readings.read_out` takes it. On a CPU one seed at a time, over the cores; on a GPU all seeds at once.
    """
    size = 1 if device().type == "cpu" else len(seeds)
    jobs: list[Job] = []
    for group in groups:
        for start in range(0, len(seeds), size):
            part = slice(start, start + size)
            weights = {norm: {name: of[part] for name, of in one.items()} for norm, one in group.weights.items()}
            jobs.append(partial(_of_group, replace(group, weights=weights), seeds[part], how, root))
    total = sum(len(group.sequences) for group in groups) * len(seeds) // size
    with Progress("interventions", total, "lengths") as progress:
        accuracies, counts = (chain.from_iterable(rows) for rows in zip(*parallel.run(jobs, progress), strict=True))
    names = [*PARQUET["interventions"]]
    table = pd.DataFrame(accuracies, columns=names).sort_values(names[:-1], ignore_index=True)
    return table, pd.DataFrame(counts)


def partner(norm: str, norms: Sequence[str]) -> str:
    """Return whose weights a variant is given: `none` has those of `ln`, or of the treatment; the others those of none.

    `norms`: `none`, and then the treatment as the last; where there is no other variant, its own.
    """
    if norm != "none":
        return "none"
    return "ln" if "ln" in norms else norms[-1]


def _of_group(
    group: Group, seeds: Sequence[int], how: Interventions, root: int, report: Report
) -> tuple[list[Row], list[Row]]:
    every = {norm: Models.of(of, group.weights[norm]) for norm, of in group.variants.items()}
    task_name = next(iter(group.variants.values())).task_name
    one = next(iter(every.values()))
    draw = partial(stream, root, "interventions", task_name)
    short, others = (
        [*of_training_lengths(one.task, rng, how.training_sequences, group.trained, one.batch_items)]
        for rng in (draw("tested", group.range_name), draw("calibration", group.range_name))
    )
    training = {norm: Parts.of(models, short) for norm, models in every.items()}
    calibrated = {norm: Calibration.of(models, Parts.of(models, others)) for norm, models in every.items()}
    about = {norm: {"task": task_name, "range": group.range_name, "norm": norm} for norm in every}
    accuracies: list[Row] = []
    counts: list[Row] = []
    for norm, models in every.items():
        base = correct(models, training[norm].context, training[norm].labels)
        accuracies += [about[norm] | {"length": 0} | row for row in _accuracies(seeds, [(BASE, NOTHING, base)])]
        flat = _flattened(models, seeds, short, training[norm].labels)
        counts += [about[norm] | {"sample": "flattened", "length": 0} | row for row in flat]
    for length, read in group.sequences.items():
        size = max(1, one.batch_items // length)
        tested = [*first(read, how.sequences, size)]
        new = [*of_length(one.task, draw("calibration", length), how.sequences, length, size)]
        parts = {norm: Parts.of(models, tested) for norm, models in every.items()}
        chosen = drawn(draw("drawn", group.range_name, length), len(parts["none"].labels), how)
        for norm, models in every.items():
            long = Calibration.of(models, Parts.of(models, new))
            other = parts[partner(norm, [*every])].weight
            found = chain(
                on_long(models, parts[norm], long, calibrated[norm], other, chosen),
                on_training(models, training[norm], long, calibrated[norm], chosen),
            )
            accuracies += [about[norm] | {"length": length} | row for row in _accuracies(seeds, found)]
            right = correct(models, parts[norm].context, parts[norm].labels)
            read_out = _counted(seeds, parts[norm].weight, right)
            counts += [about[norm] | {"sample": "tested", "length": length} | row for row in read_out]
        report(1)
    return accuracies, counts


def _accuracies(seeds: Sequence[int], found: Iterable[tuple[str, str, Bool[Tensor, "S B"]]]) -> Iterator[Row]:
    """Yield the accuracy of each seed under every intervention: its name, where it acts, which answers are right."""
    for name, where, right in found:
        for seed, mean in zip(seeds, right.double().mean(1).tolist(), strict=True):
            yield {"seed": seed, "intervention": name, "where": where, "accuracy": round(mean, 6)}


def _flattened(
    models: Models, seeds: Sequence[int], batches: Sequence[Batch], labels: Int64[Tensor, " B"]
) -> Iterator[Row]:
    """Yield the counts of right answers to sequences with their logits times each of BETAS."""
    for beta in BETAS:
        flat = [flattened(models, part, beta) for part in batches]
        weight, context = (torch.cat(of, 1) for of in zip(*flat, strict=True))
        yield from _counted(seeds, weight, correct(models, context, labels))


def _counted(seeds: Sequence[int], weight: Float[Tensor, "S B"], right: Bool[Tensor, "S B"]) -> Iterator[Row]:
    return counted(seeds, weight.cpu().numpy(), right.cpu().numpy())
