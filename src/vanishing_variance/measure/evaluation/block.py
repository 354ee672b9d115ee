"""Evaluation of a block of trained models: every answer, its accuracy, and what happens inside.

S seeds, B sequences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.evaluation import internals
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.diagnostics import diagnose
from vanishing_variance.measure.inference.models import Models, StoredWeights, chunks, joined, select_models
from vanishing_variance.measure.inference.sequences import Read, of_training_lengths

# By rule and length: True where an answer is correct.
Correct = Mapping[tuple[str, int], Bool[np.ndarray, "S B"]]


@dataclass(frozen=True)
class EvaluationPlan:
    """All that an evaluation depends on, apart from weights and test sequences."""

    name: str
    root_seed: int
    variant: Variant
    lengths: Sequence[int]
    range_name: str
    training_lengths: Range
    diagnostics: Diagnostics


def evaluate_block(
    plan: EvaluationPlan,
    weights: StoredWeights,
    kept: Mapping[str, StoredWeights],
    seeds: Sequence[int],
    sequences: Mapping[int, Read],
) -> tuple[Correct, dict[str, pd.DataFrame]]:
    """Test a block of models on `sequences` (by length) by every rule, and measure inside them.

    `kept`: weights that the same trainings kept beside their last ones, by name, which is their rule: these models
    are tested as they are. On a CPU one model at a time, over the cores; on a GPU each half of the block at once.

    Return every answer, and frames by name: `accuracy` (`accuracies`), `mechanism` (`internals.means_by_model`;
    `sample` is tested, or trained with length 0 for the training lengths), and those of `diagnose` for the first model.
    """
    first = select_models(weights, slice(1))
    jobs: list[parallel.Job] = [partial(diagnose, plan.variant, first, plan.lengths, plan.diagnostics, plan.root_seed)]
    for places in chunks(len(seeds)):
        chosen = select_models(weights, places)
        chosen_kept = {rule: select_models(of_rule, places) for rule, of_rule in kept.items()}
        jobs.append(partial(_evaluate_models, plan, chosen, chosen_kept, seeds[places], sequences))
    with Progress(f"evaluate {plan.name}", len(jobs) * len(plan.lengths), "lengths") as progress:
        diagnostics, *parts = parallel.run(jobs, progress)

    correct_of_parts, rows_of_parts = zip(*parts, strict=True)
    correct = {key: np.concatenate([part[key] for part in correct_of_parts]) for key in correct_of_parts[0]}
    rows = [row for part in rows_of_parts for row in part]
    frames = {
        "accuracy": accuracies(correct, seeds),
        "mechanism": pd.DataFrame(rows).sort_values(["seed", "length"], ignore_index=True),
        **diagnostics,
    }
    return correct, frames


def at_each_length(
    models: Models, kept: Mapping[str, Models], sequences: Mapping[int, Read], *, look: bool
) -> Iterator[tuple[int, Correct, dict[str, np.ndarray]]]:
    """Yield each length, the answers there, and `internals.inside` of the models, where to `look` there.

    `kept`: other weights of the same models, which are tested as they are, by rule.
    """
    for length, read in sequences.items():
        answers, insides = [], []
        for batch in read(models.batch_size(length)):
            attended = models.attend(batch)
            as_trained = {rule: of_rule.correct_as_trained(batch) for rule, of_rule in kept.items()}
            answers.append(models.correct(batch, attended) | as_trained)
            if look:
                insides.append(internals.inside(batch, attended))
        correct = {(rule, length): of_rule for rule, of_rule in joined(answers).items()}
        yield length, correct, joined(insides) if look else {}


def accuracies(correct: Correct, seeds: Sequence[int]) -> pd.DataFrame:
    """Return the fraction of correct answers: seed, rule, length, accuracy; increasing."""
    frames = []
    for (name, length), answers in correct.items():
        columns = {"seed": seeds, "rule": name, "length": length, "accuracy": answers.mean(axis=1)}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames).sort_values(["seed", "rule", "length"], ignore_index=True)


def _evaluate_models(
    plan: EvaluationPlan,
    weights: StoredWeights,
    kept: Mapping[str, StoredWeights],
    seeds: Sequence[int],
    sequences: Mapping[int, Read],
    report: parallel.Report,
) -> tuple[Correct, list[dict[str, Any]]]:
    """Return the answers of some models, and the rows of `mechanism`."""
    models = Models.of(plan.variant, weights)
    kept_models = {rule: Models.of(plan.variant, of_rule) for rule, of_rule in kept.items()}
    correct: dict[tuple[str, int], np.ndarray] = {}
    rows: list[dict[str, Any]] = []
    reference = _at_training_lengths(plan, models, "trained", plan.diagnostics.sequences)
    of_lengths = {length: sequences[length] for length in plan.lengths}
    for length, answers, measured in at_each_length(models, kept_models, of_lengths, look=True):
        correct |= answers
        rows += internals.means_by_model("tested", length, seeds, measured, reference)
        report(1)
    # As many sequences of the training lengths as of a test length: how far a sample is from itself.
    again = _at_training_lengths(plan, models, "trained again", measured["target"].shape[1])
    rows += internals.means_by_model("trained", 0, seeds, again, reference)
    return correct, rows


def _at_training_lengths(plan: EvaluationPlan, models: Models, name: str, sequences: int) -> dict[str, np.ndarray]:
    """Return `internals.inside` of new sequences of the training lengths, uniform over the whole range."""
    rng = stream(plan.root_seed, name, plan.variant.task_name, plan.range_name)
    batches = of_training_lengths(models.task, rng, sequences, plan.training_lengths, models.batch_size)
    return joined(internals.inside(batch, models.attend(batch)) for batch in batches)
