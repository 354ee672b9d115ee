import pytest
import torch
from small import SHARP, WIDTH, clear, make_trained

from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.measure.interventions import parts as module
from vanishing_variance.measure.interventions.parts import DISTRACTORS, flattened, take_apart

CLOSE = {"rtol": 1e-3, "atol": 1e-4}


def made(task_name, sequences, length):
    """Models, and sequences of a length."""
    trained = make_trained(task_name, sharpness=SHARP[task_name])
    return Models.of(trained.variant, trained.weights), trained.variant.task.sample(stream(0), sequences, length)


def densely(models, sequences, beta=1.0):
    """Weights (S, B, N) and hidden layers (S, B, N, D), in double precision."""
    items, query = models.encode(sequences)
    hidden = items.hidden().double()
    return torch.softmax(beta * torch.linalg.vecdot(hidden, query.double().unsqueeze(2)), -1), hidden


@pytest.mark.parametrize("length", [2, 9, 40])
def test_they_are_what_a_dense_average_consists_of(task_name, length, monkeypatch):
    monkeypatch.setattr(module, "CLOSE", 0.5)
    models, sequences = made(task_name, 30, length)
    parts = take_apart(models, sequences)
    weights, hidden = densely(models, sequences)
    rows, target = torch.arange(30), torch.from_numpy(sequences["target"])
    own = weights[:, rows, target]
    torch.testing.assert_close(parts.weight.double(), own, **CLOSE)
    torch.testing.assert_close(parts.target.double(), hidden[:, rows, target], **CLOSE)
    torch.testing.assert_close(parts.weighted(parts.weight), parts.context, **CLOSE)
    others = weights.clone()
    others[:, rows, target] = 0
    rest = (others / others.sum(-1, keepdim=True)).unsqueeze(-2) @ hidden
    torch.testing.assert_close(parts.rest.double(), rest.squeeze(-2), **CLOSE)
    largest = hidden.gather(2, weights.argmax(-1)[..., None, None].expand(-1, -1, 1, WIDTH)).squeeze(2)
    sure = torch.from_numpy(clear(weights.numpy()))
    torch.testing.assert_close(parts.hard.double()[sure], largest[sure], **CLOSE)
    kept = min(DISTRACTORS, length - 1)
    top = others.topk(kept)
    profile = top.values / top.values.sum(-1, keepdim=True)
    torch.testing.assert_close(parts.profile[:, :, :kept].double(), profile, **CLOSE)
    # averaged, for two distractors of nearly the same weight may change places
    averaged = profile.unsqueeze(-2) @ hidden.gather(2, top.indices.unsqueeze(-1).expand(-1, -1, -1, WIDTH))
    torch.testing.assert_close((parts.profile.unsqueeze(-2) @ parts.largest).double(), averaged, **CLOSE)
    assert not parts.largest[:, :, kept:].any()
    assert not parts.profile[:, :, kept:].any()
    if length < 40:
        assert own.min() < module.CLOSE < own.max()


def test_one_item_has_no_rest(task_name):
    parts = take_apart(*made(task_name, 5, 1))
    assert torch.equal(parts.weight, torch.ones(2, 5))
    assert torch.equal(parts.rest, parts.target)
    assert torch.equal(parts.hard, parts.target)


def test_flattened_logits_are_multiplied_by_beta(task_name):
    models, sequences = made(task_name, 6, 9)
    weights, hidden = densely(models, sequences, 0.3)
    weight, context = flattened(models, sequences, 0.3)
    expected = weights[:, torch.arange(6), torch.from_numpy(sequences["target"])]
    torch.testing.assert_close(weight.double(), expected, **CLOSE)
    torch.testing.assert_close(context.double(), (weights.unsqueeze(-2) @ hidden).squeeze(-2), **CLOSE)
