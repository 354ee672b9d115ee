"""Answers of the plain engine's models to test sequences, and their loss at the training lengths.

S seeds, B sequences of a batch, I of a test.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int8
from torch import Tensor
from torch.nn.functional import cross_entropy

from vanishing_variance.engine.drawing import LABEL
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Report, job
from vanishing_variance.harness.progress import Progress, say
from vanishing_variance.measure.evaluation.fast_models import Answers
from vanishing_variance.measure.inference.models import marked
from vanishing_variance.measure.plain_models.limited import Weights, held_out, in_batches, model_of, of_seed
from vanishing_variance.measure.plain_models.rules import by_rules, rules_of
from vanishing_variance.measure.training_loss import fresh_sequences
from vanishing_variance.plain.model import Batch, PlainModel, initial_model
from vanishing_variance.plain.plan import PlainPlan


def plain_answers(
    plan: PlainPlan, seeds: Sequence[int], weights: Mapping[str, Weights], lengths: Sequence[int], sequences: int
) -> Answers:
    """Return by rule and length each answer of each model.

    `weights`, (S, ...) each, by rule: `last`, the last ones, and those kept beside them. Raises TooLargeError for a
    length of which memory does not hold one sequence. A line says where no rule changes attention.
    """
    jobs = []
    for place, seed in enumerate(seeds):
        own = {rule: of_seed(of_rule, place) for rule, of_rule in weights.items()}
        jobs.append(job(_answers, plan, seed, own, lengths, sequences))
    rules = rules_of(initial_model(plan, seeds[0]))
    if not rules:
        say(f"network {plan.network_name}: hard and adaptive are not measured; it has no attention map")
    models = (len(weights) + len(rules)) * len(seeds)
    with Progress(f"test {plan.name}", models * sequences * sum(lengths), "items") as progress:
        by_seed = parallel.run(jobs, progress)
    return {key: np.stack([answers[key] for answers in by_seed]) for key in by_seed[0]}


def plain_losses(plan: PlainPlan, seeds: Sequence[int], weights: Mapping[str, Weights]) -> pd.DataFrame:
    """Return the loss of every model at the training lengths in nats, as `training_losses`: seed, rule, loss."""
    torch.set_num_threads(1)  # several would spin beside other stages
    rows = []
    for rule, of_rule in weights.items():
        for place, seed in enumerate(seeds):
            model = model_of(plan, seed, of_seed(of_rule, place))
            by_length = []
            for length, sequences in fresh_sequences(plan).items():
                losses = in_batches(partial(_cross_entropy, model), plan, length, sequences, lambda items: None)
                by_length.append(torch.cat(losses).double().mean())
            rows.append((seed, rule, torch.stack(by_length).mean().item()))
    return pd.DataFrame(rows, columns=["seed", "rule", "loss"])


def _answers(
    plan: PlainPlan,
    seed: int,
    weights: Mapping[str, Weights],
    lengths: Sequence[int],
    sequences: int,
    report: Report,
) -> dict[tuple[str, int], Int8[np.ndarray, " I"]]:
    """Return by rule and length each answer of a seed's models."""
    models = {rule: model_of(plan, seed, of_rule) for rule, of_rule in weights.items()}
    models |= by_rules(models["last"])
    by_rule = {}
    for length in lengths:
        drawn = held_out(plan, length, sequences)
        for rule, model in models.items():
            answers = in_batches(partial(_marked, model), plan, length, drawn, report)
            by_rule[rule, length] = torch.cat(answers).cpu().numpy()
    return by_rule


def _marked(model: PlainModel, batch: Batch) -> Int8[Tensor, " B"]:
    return marked(model(batch), batch[LABEL])


def _cross_entropy(model: PlainModel, batch: Batch) -> Float[Tensor, " B"]:
    return cross_entropy(model(batch), batch[LABEL], reduction="none")
