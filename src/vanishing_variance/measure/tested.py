"""The test of trained models, whichever engine trained them: answers, accuracies, losses and what is inside.

S seeds.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.measure.config import Diagnostics
from vanishing_variance.measure.drawn import sequences_of
from vanishing_variance.measure.evaluation.fast_models import Answers, accuracies, evaluate_block
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.models import CORRECT
from vanishing_variance.measure.parts import Parts, parts, parts_frame
from vanishing_variance.measure.training_loss import training_losses

# Of either engine: of any type, for a network may keep whole numbers.
Weights = Mapping[str, np.ndarray]
# Sequences of a length that are enough for means of what is inside each head.
IN_HEADS = 128


def answers(
    plan: TrainingPlan,
    seeds: Sequence[int],
    weights: Mapping[str, Weights],
    test: Test,
    diagnostics: Diagnostics | None = None,
    *,
    stored: bool = False,
    small: bool = False,
) -> tuple[Answers, dict[str, pd.DataFrame]]:
    """Return by rule and length each answer of each model, and frames by name.

    `weights`, (S, ...) each, by rule: `last`, and those kept beside them. Frames: `accuracy` (`accuracies`); with
    `diagnostics` also `heads` (`inside`), where the network has several or is not the paper's, and those of
    `evaluate_block`. The test sequences are drawn, or those that the stage `generate` has `stored`; if `small`, in this
    process. Raises InputError and TooLargeError.
    """
    if plan.is_plain:
        found = _plain("answers").plain_answers(plan, seeds, weights, test.lengths, test.sequences)
        frames = {"accuracy": accuracies(plan.name, found, seeds)}
    else:
        sequences = sequences_of(plan, test, stored=stored)
        found, frames = evaluate_block(plan, weights, seeds, sequences, diagnostics, small=small)
    if diagnostics is not None and ("mechanism" not in frames or plan.variant.model.heads > 1):
        measured = _plain("inside")
        if measured.has_inside(plan.network):
            number = min(IN_HEADS, test.sequences)
            frames["heads"], is_target = measured.inside_and_target(
                plan, seeds, weights["last"], test.lengths, test.sequences, number
            )
            if is_target and ("hard", test.lengths[0]) in found:
                frames["parts"] = parts_frame(_parts(found, is_target), seeds)
    return found, frames


def _parts(answers: Answers, is_target: Mapping[int, Bool[np.ndarray, "S I"]]) -> Parts:
    """Return the parts of the answers with the last weights to the first sequences, those of `is_target` by length."""
    found = {}
    for length, ranked in is_target.items():
        first = np.s_[:, : ranked.shape[1]]
        hard = answers["hard", length][first] == CORRECT
        for rule in ("last", "adaptive", "hard"):
            if (rule, length) in answers:
                found[rule, length] = parts(answers[rule, length][first] == CORRECT, hard, ranked)
    return found


def losses(plan: TrainingPlan, seeds: Sequence[int], weights: Mapping[str, Weights]) -> pd.DataFrame:
    """Return the loss of every model at the training lengths in nats, by the rule of its weights: seed, rule, loss."""
    if plan.is_plain:
        found: pd.DataFrame = _plain("answers").plain_losses(plan, seeds, weights)
        return found
    return training_losses(plan, seeds, weights)


def inside(
    plan: TrainingPlan, seeds: Sequence[int], weights: Weights, lengths: Sequence[int], sequences: int
) -> pd.DataFrame:
    """Return what is inside each layer and head (`plain_models.inside`). Raises InputError where it is not measured."""
    found: pd.DataFrame = _plain("inside").inside(plan, seeds, weights, lengths, sequences)
    return found


def _plain(module: str) -> Any:
    """Return a module of what the plain engine measures, which the fast one's models do not depend on."""
    return import_module(f"vanishing_variance.measure.plain_models.{module}")
