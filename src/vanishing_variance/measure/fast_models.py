"""The answers of the fast engine's models to test sequences."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness import parallel
from vanishing_variance.harness.jobs import job
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.evaluation.block import Correct, at_each_length
from vanishing_variance.measure.held_out import held_out_stream
from vanishing_variance.measure.inference.models import Models, StoredWeights, chunks, select_models
from vanishing_variance.measure.inference.sequences import of_length

# Items of a test, over all sequences and models, that take a core a few seconds.
SMALL = 2**24


def fast_correct(
    plan: TrainingPlan,
    seeds: Sequence[int],
    weights: Mapping[str, StoredWeights],
    lengths: Sequence[int],
    sequences: int,
) -> Correct:
    """Return by rule and length whether each answer of each model is correct: `Models.correct`.

    `weights`, (S, ...) each, by rule: `plain`, the last ones, and those kept beside them, which are tested as they are.
    On a CPU one model at a time, over the cores, as in the pipeline.
    """
    jobs: list[Job] = []
    for places in chunks(len(seeds)):
        chosen = {rule: select_models(of_rule, places) for rule, of_rule in weights.items()}
        jobs.append(job(_answers, plan, chosen, lengths, sequences))
    with Progress(f"test {plan.name}", len(jobs) * len(lengths), "lengths") as progress:
        small = len(seeds) * sequences * sum(lengths) < SMALL
        parts = parallel.run(jobs, progress, small=small)
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _answers(
    plan: TrainingPlan,
    weights: Mapping[str, StoredWeights],
    lengths: Sequence[int],
    sequences: int,
    report: Report,
) -> Correct:
    variant = plan.variant
    kept = {rule: Models.of(variant, of_rule) for rule, of_rule in weights.items()}
    models = kept.pop("plain")
    read = {}
    for length in lengths:
        rng = held_out_stream(plan.root_seed, variant.task_name, length)
        read[length] = partial(of_length, variant.task, rng, sequences, length)
    correct: dict[tuple[str, int], np.ndarray] = {}
    for _, answers, _ in at_each_length(models, kept, read, look=False):
        correct |= answers
        report(1)
    return correct
