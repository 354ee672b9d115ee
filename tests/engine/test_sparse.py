import torch
from rounding import in_double
from small import make_short, start

from vanishing_variance.engine.adam import TorchAdam
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.sparse import occurring_rows, touched_rows
from vanishing_variance.engine.steps import losses


def test_a_batch_numbers_the_rows_that_it_reads_and_the_first_again_where_another_seed_has_more():
    original = {
        "key": torch.tensor([[[7, 2], [2, 9]], [[4, 4], [4, 4]]], dtype=torch.int16),
        "query": torch.tensor([[9, 0], [4, 4]], dtype=torch.int16),
        "value": torch.tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]),
    }
    batch, rows = touched_rows(original, {"table": ("key", "query")}, {"table": 10})
    assert rows["table"].tolist() == [[0, 2, 7, 9], [4, 4, 4, 4]]
    assert batch["key"].tolist() == [[[2, 1], [1, 3]], [[0, 0], [0, 0]]]
    assert batch["query"].tolist() == [[3, 0], [0, 0]]
    assert batch["value"] is original["value"]
    assert touched_rows(original, {}, {}) == (original, {})


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
