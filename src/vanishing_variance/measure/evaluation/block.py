"""Testing a block of trained models: every answer, its accuracy, and what happens inside.

S seeds, B sequences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from vanishing_variance.engine.device import device
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.measure.evaluation import internals
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.diagnostics import diagnose
from vanishing_variance.measure.inference.models import Models, Read, joined
from vanishing_variance.measure.inference.temperature import Temperature, halves


@dataclass(frozen=True)
class EvaluationPlan:
    """All that an evaluation depends on, apart from weights and test sequences.

    `fitted`: the temperature of each half of the block (its `halves`).
    """

    name: str
    root_seed: int
    variant: Variant
    lengths: Sequence[int]
    range_name: str
    training_lengths: Range
    diagnostics: Diagnostics
    fitted: Mapping[str, Temperature]


@dataclass(frozen=True)
class Evaluation:
    """Results of a block's models.

    `correct`, by temperature and length: whether each answer is. `frames`: `accuracy` (seed, temperature, length,
    accuracy as a fraction), `mechanism` (`internals.frame`), and those of `diagnose` for the first model.
    """

    correct: Mapping[tuple[str, int], Bool[np.ndarray, "S B"]]
    frames: Mapping[str, pd.DataFrame]


def evaluate_block(
    plan: EvaluationPlan,
    weights: Mapping[str, Float[np.ndarray, "S ..."]],
    seeds: Sequence[int],
    sequences: Mapping[int, Read],
) -> Evaluation:
    """Test a block of models on `sequences` (by length), and look inside.

    On a CPU one model at a time, over the cores; on a GPU each half of the block at once.
    """
    jobs: list[Job] = [partial(_diagnose_part, plan, {name: array[:1] for name, array in weights.items()})]
    for half, places in halves(len(seeds)).items():
        size = 1 if device().type == "cpu" else max(1, len(seeds[places]))
        for first in range(places.start, places.stop, size):
            part = slice(first, min(first + size, places.stop))
            of_part = {name: array[part] for name, array in weights.items()}
            jobs.append(partial(_evaluate_part, plan, plan.fitted[half], of_part, seeds[part], sequences))
    with Progress(f"evaluate {plan.name}", len(jobs) * len(plan.lengths), "lengths") as progress:
        diagnostics, *parts = parallel.run(jobs, progress)
    correct = {key: np.concatenate([of[key] for of, _ in parts]) for key in parts[0][0]}
    mechanism = pd.concat([frame for _, frame in parts], ignore_index=True)
    return Evaluation(correct, {"accuracy": accuracies(correct, seeds), "mechanism": mechanism, **diagnostics})


def accuracies(correct: Mapping[tuple[str, int], Bool[np.ndarray, "S B"]], seeds: Sequence[int]) -> pd.DataFrame:
    """Return the fraction of correct answers: seed, temperature, length, accuracy; increasing."""
    rows = []
    for (temperature, length), answers in correct.items():
        rows += [(seed, temperature, length, one.mean()) for seed, one in zip(seeds, answers, strict=True)]
    frame = pd.DataFrame(rows, columns=["seed", "temperature", "length", "accuracy"])
    return frame.sort_values(["seed", "temperature", "length"], ignore_index=True)


def _evaluate_part(
    plan: EvaluationPlan,
    fitted: Temperature,
    weights: Mapping[str, np.ndarray],
    seeds: Sequence[int],
    sequences: Mapping[int, Read],
    report: Report,
) -> tuple[dict[tuple[str, int], np.ndarray], pd.DataFrame]:
    models = Models.of(plan.variant, weights)
    correct: dict[tuple[str, int], np.ndarray] = {}
    rows: dict[int, list[dict[str, float]]] = {}

    def at_training_lengths(sequences: int, name: str) -> dict[str, np.ndarray]:
        rng = stream(plan.root_seed, name, plan.variant.task_name, plan.range_name)
        return internals.at_training_lengths(models, plan.training_lengths, rng, sequences)

    reference = at_training_lengths(plan.diagnostics.sequences, "trained")
    for length in plan.lengths:
        tested = models.test(sequences[length], length, fitted)
        found: dict[Any, np.ndarray] = joined(
            {(name, length): of for name, of in answers.correct.items()} | internals.inside(part, answers)
            for part, answers in tested
        )
        correct |= {key: found.pop(key) for key in [*found] if isinstance(key, tuple)}
        rows[length] = list(internals.means_by_model(seeds, found, reference))
        report(1)
    # As many sequences of the training lengths as of a test length: how far a sample is from itself.
    again = at_training_lengths(found["target"].shape[1], "trained again")
    return correct, internals.frame(rows, list(internals.means_by_model(seeds, again, reference)))


def _diagnose_part(plan: EvaluationPlan, weights: Mapping[str, np.ndarray], report: Report) -> dict[str, pd.DataFrame]:
    models = Models.of(plan.variant, weights)
    return diagnose(models, plan.variant.task_name, plan.lengths, plan.diagnostics, plan.root_seed, report)
