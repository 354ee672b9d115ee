import pytest
import torch
from small import SHARP, clear, make_trained, models_of, sample
from torch.testing import assert_close

from vanishing_variance.measure.interventions import parts as module
from vanishing_variance.measure.interventions.parts import take_apart

CLOSE = {"rtol": 1e-3, "atol": 1e-4}


def made(task_name, sequences, length, heads=1):
    """Return models, and sequences of a length."""
    trained = make_trained(task_name, sharpness=SHARP[task_name], heads=heads)
    return models_of(trained), sample(trained, sequences, length)


def densely(models, sequences):
    """Return weights (S, B, N) and hidden layers (S, B, N, D), in double precision."""
    items, query = models.encode(sequences)
    hidden = items.hidden().double()
    logits = torch.linalg.vecdot(hidden, query.double().unsqueeze(2))
    return torch.softmax(logits, -1), hidden


def average(weights, hidden):
    return (weights.unsqueeze(-2) @ hidden).squeeze(-2)


def at(hidden, index):
    """Return the hidden layers of the items at an index (S, B, K)."""
    return hidden.gather(2, index.unsqueeze(-1).expand(-1, -1, -1, hidden.shape[-1]))


@pytest.mark.parametrize(("length", "heads"), [(2, 1), (9, 2), (40, 1)])
def test_they_are_what_a_dense_average_consists_of(task_name, length, heads, monkeypatch):
    monkeypatch.setattr(module, "CLOSE", 0.5)
    models, sequences = made(task_name, 30, length, heads)
    weights, hidden = densely(models, sequences)
    parts = take_apart(models, [sequences])

    rows, target = torch.arange(30 * heads), torch.from_numpy(sequences["target"]).repeat_interleave(heads)
    weight = weights[:, rows, target]
    assert_close(parts.weight.double(), weight, **CLOSE)
    assert_close(parts.target.double(), hidden[:, rows, target], **CLOSE)
    assert_close(parts.weighted(parts.weight), parts.context, **CLOSE)

    others = weights.clone()
    others[:, rows, target] = 0
    rest = average(others / others.sum(-1, keepdim=True), hidden)
    assert_close(parts.rest.double(), rest, **CLOSE)

    sure = torch.from_numpy(clear(weights.numpy()))
    largest = at(hidden, weights.argmax(-1, keepdim=True)).squeeze(2)
    assert_close(parts.hard.double()[sure], largest[sure], **CLOSE)


def test_one_item_has_no_rest(task_name):
    models, sequences = made(task_name, 5, 1)
    parts = take_apart(models, [sequences])
    assert torch.equal(parts.weight, torch.ones(2, 5))
    assert torch.equal(parts.rest, parts.target)
    assert torch.equal(parts.hard, parts.target)
