"""Testing of a treatment's models: with the attention map as trained, sharpened, and with hard attention.

S seeds, B sequences, N items.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vanishing_variance.engine.attend import products, weighted_sum
from vanishing_variance.engine.task import Sequences
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.leaderboard.files import ADAPTIVE, FITTED, HARD, TRAINED
from vanishing_variance.measure.evaluation.fit import FitPlan, fit_block
from vanishing_variance.measure.inference.models import Models, StoredWeights, at_target, select_models
from vanishing_variance.measure.inference.sequences import Read
from vanishing_variance.measure.inference.temperature import PUBLISHED, Temperature, chunks, entropy


def measure_treatment(
    plan: FitPlan, weights: StoredWeights, seeds: Sequence[int], sequences: Mapping[int, Read]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two frames: seed, rule, length, accuracy (a fraction); and seed, length, target, variance.

    `sequences`: by length. `target` is the attention weight of the target item and `variance` the global variance of O
    (Section 2: over the D features of one output), means over sequences with the map as trained. An adaptive
    temperature is fitted by `plan` where the map is a softmax.
    """
    fitted = fit_block(plan, weights) if plan.variant.network().rescaled else {}
    jobs: list[Job] = []
    for half, places in chunks(len(seeds)):
        models = select_models(weights, places)
        jobs.append(partial(_test_models, plan.variant, models, seeds[places], sequences, fitted.get(half)))
    with Progress(f"test {plan.name}", len(jobs) * len(sequences), "lengths") as progress:
        parts = parallel.run(jobs, progress)
    accuracy = pd.concat([of_models for of_models, _ in parts])
    attention = pd.concat([of_models for _, of_models in parts])
    return (
        accuracy.sort_values(["seed", "rule", "length"], ignore_index=True),
        attention.sort_values(["seed", "length"], ignore_index=True),
    )


def _test_models(
    variant: Variant,
    weights: StoredWeights,
    seeds: Sequence[int],
    sequences: Mapping[int, Read],
    fitted: Temperature | None,
    report: Report,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    models = Models.of(variant, weights)
    accuracies, attentions = [], []
    for length, read in sequences.items():
        batches = read(models.batch_size(length))
        answers = [answer(models, batch, fitted) for batch in batches]
        correct = _means([of_rules for of_rules, _ in answers])
        inside = _means([of_trained for _, of_trained in answers])
        for rule, accuracy in correct.items():
            accuracies.append(pd.DataFrame({"seed": seeds, "rule": rule, "length": length, "accuracy": accuracy}))
        attentions.append(pd.DataFrame({"seed": seeds, "length": length, **inside}))
        report(1)
    return pd.concat(accuracies), pd.concat(attentions)


def _means(batches: Sequence[Mapping[str, Tensor]]) -> dict[str, list[float]]:
    """Return by name each model's mean over the sequences of all batches."""
    means = {}
    for name in batches[0]:
        values = torch.cat([batch[name] for batch in batches], dim=1)
        means[name] = values.double().mean(1).tolist()
    return means


@torch.no_grad()
def answer(
    models: Models, sequences: Sequences, fitted: Temperature | None = None
) -> tuple[dict[str, Bool[Tensor, "S B"]], dict[str, Float[Tensor, "S B"]]]:
    """Return by rule whether each answer is correct; and, as trained, the `target` item's weight and O's `variance`.

    The rules `adaptive`, the published temperature, and `fitted`, where it is given, are for maps that are a softmax.
    Hard attention gives all weight to the item with the largest logit, the first of equals.
    """
    network = models.network
    items, folded_query = models.encode(sequences)
    logits = products(items, folded_query)
    trained = network.attention_weights(models.weights, logits)
    largest = logits.argmax(-1, keepdim=True)
    hard = torch.zeros_like(trained).scatter_(-1, largest, 1.0)
    attention_weights = {TRAINED: trained, HARD: hard}
    if network.rescaled:
        entropies = entropy(logits)
        temperatures = {ADAPTIVE: PUBLISHED} if fitted is None else {ADAPTIVE: PUBLISHED, FITTED: fitted}
        for rule, temperature in temperatures.items():
            beta = temperature.beta(entropies).unsqueeze(-1)
            attention_weights[rule] = network.attention_weights(models.weights, beta * logits)
    labels = models.labels(sequences)
    correct = {}
    attention = {"target": at_target(trained, sequences)}
    for rule, of_rule in attention_weights.items():
        total = None if network.rescaled else of_rule.sum(-1)
        outputs = network.outputs(models.weights, weighted_sum(items, of_rule), total)
        normalised = network.normalise(models.weights, outputs)
        correct[rule] = models.read_out(normalised).argmax(-1) == labels
        if rule == TRAINED:
            attention["variance"] = outputs.var(-1, correction=0)
    return correct, attention
