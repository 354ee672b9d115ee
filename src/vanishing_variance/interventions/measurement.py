"""Every intervention in every model of a block.

S seeds, B sequences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.core import parallel
from vanishing_variance.core.device import device
from vanishing_variance.core.parallel import Job, Report
from vanishing_variance.core.progress import Progress
from vanishing_variance.core.ranges import Range
from vanishing_variance.core.seeding import stream
from vanishing_variance.inference.models import Models, Read
from vanishing_variance.interventions.config import Interventions
from vanishing_variance.interventions.parts import Parts
from vanishing_variance.interventions.reader import Reader
from vanishing_variance.interventions.rows import Rows
from vanishing_variance.interventions.sequences import drawn, first, of_length, of_training
from vanishing_variance.interventions.setting import Calibration, on_long, on_training
from vanishing_variance.model.variant import Variant
from vanishing_variance.study.columns import PARQUET
from vanishing_variance.study.interventions import BASE, NOTHING

Weights = Mapping[str, Float[np.ndarray, "S ..."]]


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
        found: list[Rows] = parallel.run(jobs, progress)
    accuracies = pd.DataFrame([row for rows in found for row in rows.accuracies])
    names = [*PARQUET["interventions"]]
    counts = pd.DataFrame([row for rows in found for row in rows.counts])
    return accuracies[names].sort_values(names[:-1], ignore_index=True), counts


def partner(norm: str, norms: Sequence[str]) -> str:
    """Return whose weights a variant is given: `none` has those of `ln`, or of the treatment; the others those of none.

    Where there is no other variant, its own.
    """
    others = [one for one in norms if one != "none"]
    if norm != "none":
        return "none"
    return "ln" if "ln" in others else others[-1] if others else "none"


def _of_group(group: Group, seeds: Sequence[int], how: Interventions, root: int, report: Report) -> Rows:
    readers = {norm: Reader(Models.of(of, group.weights[norm])) for norm, of in group.variants.items()}
    task_name = next(iter(group.variants.values())).task_name
    models = next(iter(readers.values())).models
    draw = partial(stream, root, "interventions", task_name)
    short, others = (
        [*of_training(models.task, rng, how.training_sequences, group.trained, models.batch_items)]
        for rng in (draw("tested", group.range_name), draw("calibration", group.range_name))
    )
    training = {norm: Parts.of(reader.models, short) for norm, reader in readers.items()}
    calibrated = {norm: Calibration.of(reader, Parts.of(reader.models, others)) for norm, reader in readers.items()}
    rows = Rows({"task": task_name, "range": group.range_name}, seeds)
    for norm, reader in readers.items():
        base = reader.correct(training[norm].context, training[norm].labels)
        rows.add(norm, 0, [(BASE, NOTHING, base)])
        rows.flatten(norm, reader, short)
    for length, read in group.sequences.items():
        size = max(1, models.batch_items // length)
        tested = [*first(read, how.sequences, size)]
        new = [*of_length(models.task, draw("calibration", length), how.sequences, length, size)]
        parts = {norm: Parts.of(reader.models, tested) for norm, reader in readers.items()}
        chosen = drawn(draw("drawn", group.range_name, length), len(parts["none"].labels), how)
        for norm, reader in readers.items():
            long = Calibration.of(reader, Parts.of(reader.models, new))
            other = parts[partner(norm, [*readers])].weight
            rows.add(norm, length, on_long(reader, parts[norm], long, calibrated[norm], other, chosen))
            rows.add(norm, length, on_training(reader, training[norm], long, calibrated[norm], chosen))
            right = reader.correct(parts[norm].context, parts[norm].labels)
            rows.count(norm, "tested", length, parts[norm].weight, right)
        report(1)
    return rows
