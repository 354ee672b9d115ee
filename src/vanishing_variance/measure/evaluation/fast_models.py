"""Evaluation of a block of the fast engine's models: every answer, its accuracy, and what happens inside.

S seeds, B sequences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int8
from torch import Tensor

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TARGET, Sequences
from vanishing_variance.harness import parallel
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.parallel import job
from vanishing_variance.harness.progress import Progress, say
from vanishing_variance.measure.config import Diagnostics
from vanishing_variance.measure.evaluation import internals
from vanishing_variance.measure.evaluation.diagnostics import diagnose
from vanishing_variance.measure.inference.models import (
    CORRECT,
    NO_ANSWER,
    Models,
    StoredWeights,
    chunks,
    is_target,
    joined,
    select_models,
)
from vanishing_variance.measure.inference.sequences import Read, of_training_lengths
from vanishing_variance.measure.parts import Parts, parts, parts_frame

# By rule and length: each answer, as `models.marked`.
Answers = Mapping[tuple[str, int], Int8[np.ndarray, "S B"]]


def evaluate_block(
    plan: TrainingPlan,
    weights: Mapping[str, StoredWeights],
    seeds: Sequence[int],
    sequences: Mapping[int, Read],
    diagnostics: Diagnostics | None = None,
    *,
    small: bool = False,
) -> tuple[Answers, dict[str, pd.DataFrame]]:
    """Test a block of models on `sequences` (by length) by every rule, and with `diagnostics` measure inside them.

    `weights` by rule: `last`, the last ones, and those that the same trainings kept beside them, whose models are
    tested as they are. On a CPU one model at a time, over the cores, or if `small` (see parallel.run) in this process;
    on a GPU each half of the block at once.

    Return every answer, and frames by name: `accuracy` (`accuracies`), and with diagnostics `mechanism`
    (`internals.means_by_model`; `sample` is tested, or trained with length 0 for the training lengths), and those of
    `diagnose` for the first model.
    """
    grows_with = {"test.lengths": max(sequences), "model.width": plan.variant.model.width}
    require_memory(prod(grows_with.values()), grows_with)
    jobs = []
    for places in chunks(len(seeds)):
        chosen = {rule: select_models(of_rule, places) for rule, of_rule in weights.items()}
        jobs.append(job(_evaluate_models, plan, chosen, seeds[places], sequences, diagnostics))
    if diagnostics is not None:
        first = select_models(weights["last"], slice(1))
        jobs.insert(0, job(diagnose, plan.variant, first, [*sequences], diagnostics, plan.root_seed))
    with Progress(f"evaluate {plan.name}", len(jobs) * len(sequences), "lengths") as progress:
        results = parallel.run(jobs, progress, small=small)

    of_first = {} if diagnostics is None else results.pop(0)
    answers_of_models, parts_of_models, rows_of_models = zip(*results, strict=True)
    answers, lost = _together(answers_of_models), _together(parts_of_models)
    frames = {"accuracy": accuracies(plan.name, answers, seeds), **of_first}
    if lost:
        frames["parts"] = parts_frame(lost, seeds)
    rows = [row for of_models in rows_of_models for row in of_models]
    if rows:
        frames["mechanism"] = pd.DataFrame(rows).sort_values(["seed", "length"], ignore_index=True)
    return answers, frames


def _together(of_models: Sequence[Mapping[tuple[str, int], np.ndarray]]) -> dict[tuple[str, int], np.ndarray]:
    """Return the arrays of some models after another as one, (S, ...)."""
    return {key: np.concatenate([some[key] for some in of_models]) for key in of_models[0]}


def accuracies(name: str, answers: Answers, seeds: Sequence[int]) -> pd.DataFrame:
    """Return the fraction of correct answers: seed, rule, length, accuracy; increasing.

    And `no_answer`, the fraction of sequences whose class logits are not finite, which a line says where there are any.
    """
    frames = []
    for (rule, length), marks in answers.items():
        correct, missing = (marks == CORRECT).mean(axis=1), (marks == NO_ANSWER).mean(axis=1)
        columns = {"seed": seeds, "rule": rule, "length": length, "accuracy": correct, "no_answer": missing}
        frames.append(pd.DataFrame(columns))
    frame = pd.concat(frames).sort_values(["seed", "rule", "length"], ignore_index=True)
    without = frame[frame["no_answer"] > 0].groupby(["rule", "length"], as_index=False)["no_answer"].max()
    if len(without):
        rules = ", ".join(without["rule"].unique())
        lengths = ", ".join(map(str, sorted(without["length"].unique())))
        part = without["no_answer"].max()
        said = f"up to {part:.1%} of the answers of a model are not a number, and count as wrong"
        say(f"warning: test {name}: {said}: rule {rules}, at {lengths} items")
    return frame


def _evaluate_models(
    plan: TrainingPlan,
    weights: Mapping[str, StoredWeights],
    seeds: Sequence[int],
    sequences: Mapping[int, Read],
    diagnostics: Diagnostics | None,
    report: parallel.Report,
) -> tuple[Answers, Parts, list[dict[str, Any]]]:
    """Return the answers of some models, their parts, and with diagnostics the rows of `mechanism`."""
    models = {rule: Models.of(plan.variant, of_rule) for rule, of_rule in weights.items()}
    by_rule: dict[tuple[str, int], np.ndarray] = {}
    lost: dict[tuple[str, int], np.ndarray] = {}
    rows: list[dict[str, Any]] = []
    reference = None
    if diagnostics is not None:
        reference = _at_training_lengths(plan, models["last"], "trained", diagnostics.sequences)
    for length, read in sequences.items():
        batches = read(models["last"].batch_size(length))
        tested, measured = _tested(models, batches, with_inside=reference is not None)
        for rule, marks, of_weights in _rules(tested):
            by_rule[rule, length] = marks
            if "is_target" in of_weights:
                right, hard = marks == CORRECT, of_weights["hard"] == CORRECT
                lost[rule, length] = parts(right, hard, of_weights["is_target"])
        if reference is not None:
            rows += internals.means_by_model("tested", length, seeds, measured, reference)
        report(1)
    if reference is not None:
        # As many sequences of the training lengths as of a test length: how far a sample is from itself.
        number = measured["target"].shape[1]
        again = _at_training_lengths(plan, models["last"], "trained again", number)
        rows += internals.means_by_model("trained", 0, seeds, again, reference)
    return by_rule, lost, rows


def _tested(
    models: Mapping[str, Models], batches: Iterable[Sequences], *, with_inside: bool
) -> tuple[dict[str, dict[str, np.ndarray]], dict[str, np.ndarray]]:
    """Return by weights each answer to sequences of a length, by rule, and `internals.inside` of the last weights.

    Beside the answers stands `is_target`, of a task with a target and models of one head.
    """
    answers: dict[str, list[dict[str, Tensor]]] = {rule: [] for rule in models}
    inside = []
    for batch in batches:
        for rule, of_rule in models.items():
            attended = of_rule.attended(batch)
            answer = of_rule.answers if rule == "last" else of_rule.answers_as_trained
            of_batch = answer(batch, attended)
            if TARGET in batch and of_rule.network.model.heads == 1:
                of_batch["is_target"] = is_target(attended, batch)
            answers[rule].append(of_batch)
            if rule == "last":
                inside.append(internals.inside(batch, attended) if with_inside else {})
    return {rule: joined(of_rule) for rule, of_rule in answers.items()}, joined(inside)


def _rules(tested: Mapping[str, dict[str, np.ndarray]]) -> Iterator[tuple[str, np.ndarray, dict[str, np.ndarray]]]:
    """Yield each rule, its answers, and all that was tested of its weights; of kept weights the answers as trained."""
    for weights, of_weights in tested.items():
        names = [name for name in of_weights if name != "is_target"] if weights == "last" else ["last"]
        for name in names:
            yield weights if name == "last" else name, of_weights[name], of_weights


def _at_training_lengths(plan: TrainingPlan, models: Models, name: str, sequences: int) -> dict[str, np.ndarray]:
    """Return `internals.inside` and margins of new sequences of the training lengths, uniform over the whole range."""
    rng = stream(plan.root_seed, name, plan.variant.task_name, plan.range_name)
    batches = of_training_lengths(models.task, rng, sequences, plan.lengths, models.batch_size)
    measured = []
    for batch in batches:
        attended = models.attended(batch)
        measured.append({**internals.inside(batch, attended), "margin": internals.margin(batch, attended)})
    return joined(measured)
