"""The first layer and the features of the query, of tasks of no file, against the plain module."""

from dataclasses import replace

import pytest
import torch
from own_tasks import OWN, Drawn
from rounding import in_double
from small import make_short, start
from test_network import assert_as_plain, drawn, sequences

from vanishing_variance import Embedded, Number, OneHot
from vanishing_variance.engine import embedding
from vanishing_variance.engine.adam import TorchAdam
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.sparse import occurring_rows, touched_rows
from vanishing_variance.engine.steps import losses
from vanishing_variance.engine.task import EmbeddingTraining, why_plain


def plan_of(kind, projection="mlp"):
    plan = make_short("argmax", model={"projection": projection})
    training = kind.training_class()()
    if isinstance(training, EmbeddingTraining):
        training = EmbeddingTraining(embedding_width=8, embedding_std=0.5)
    variant = replace(plan.variant, task_name=kind.__name__, task=kind())
    return replace(plan, variant=variant, task_training=training)


@pytest.mark.parametrize("projection", ["mlp", "direct"])
@pytest.mark.parametrize("kind", OWN)
def test_loss_and_gradients_equal_those_of_a_plain_module(kind, projection):
    assert_as_plain(plan_of(kind, projection))


@pytest.mark.parametrize("kind", OWN)
def test_looked_up_rows_and_those_that_a_batch_reads_lead_to_the_same_answers(kind, monkeypatch):
    monkeypatch.setattr(embedding, "SPARSE_ABOVE", 1)
    plan = plan_of(kind)
    network, weights = plan.variant.network(), drawn(plan)
    batch, labels = sequences(plan)
    expected = losses(network, weights, batch, labels)
    tables = network.embedding.sparse_tables
    assert {name.removeprefix("embedding.") for name in tables} == plan.variant.task.tables.keys()
    renumbered, rows = touched_rows(batch, tables, {name: weights[name].shape[1] for name in tables})
    read = {name: torch.stack([weights[name][seed, rows[name][seed]] for seed in range(2)]) for name in tables}
    found = losses(network, weights | read, in_double(renumbered), labels)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)

    items, query = network.encode(weights, batch)
    looked_up, same_query = network.encode(weights, batch, network.tables(weights))
    torch.testing.assert_close(looked_up.hidden(), items.hidden(), rtol=0, atol=1e-12)
    torch.testing.assert_close(same_query, query, rtol=0, atol=1e-12)


class Twice(Drawn):
    items = {"one": Number(), "other": Number()}


class Many(Drawn):
    items = {"a": OneHot(100), "b": Embedded(100, table="b"), "c": OneHot(50)}


@pytest.mark.parametrize("kind", [Twice, Many])
def test_what_does_not_fit_is_said(kind):
    assert why_plain("paper", kind()).startswith("the fast engine takes items of one number at most, and beside ")


def test_the_rows_as_they_occur_lead_to_the_same_losses_and_gradients():
    plan, seeds = make_short("dictionary"), [4, 5]
    network, (batch, labels) = plan.variant.network(), next(batches(plan, seeds))
    tables = network.embedding.sparse_tables
    found = []
    for numbered, rows in (touched_rows(batch, tables, {"embedding.key": 256}), occurring_rows(batch, tables)):
        weights = {name: tensor.double().requires_grad_() for name, tensor in start(plan, seeds).items()}
        read = TorchAdam(weights, tables, torch.ones(1, dtype=torch.float64), 0.0).read(rows)
        loss = losses(network, weights | read, in_double(numbered), labels)
        loss.sum().backward()
        found.append([loss, *(tensor.grad for tensor in weights.values())])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)
