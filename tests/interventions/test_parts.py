import numpy as np
import pytest
import torch
from small import SHARP, make_trained

from vanishing_variance.inference.models import Models
from vanishing_variance.interventions import parts as module
from vanishing_variance.interventions.parts import DISTRACTORS, Parts, flattened, take_apart


def densely(models, sequences, beta=1.0):
    """Weights (S, B, N) and hidden layers (S, B, N, D), in double precision."""
    items, query = models.encode(sequences)
    hidden = items.hidden().double()
    return torch.softmax(beta * torch.linalg.vecdot(hidden, query.double().unsqueeze(2)), -1), hidden


@pytest.mark.parametrize("length", [2, 9, 40])
@pytest.mark.parametrize("sharp", [True, False])
def test_they_are_what_a_dense_average_consists_of(task_name, length, sharp, monkeypatch):
    monkeypatch.setattr(module, "CLOSE", 0.5)
    trained = make_trained(task_name, sharpness=SHARP[task_name] if sharp else 1.0)
    models = Models.of(trained.variant, trained.weights)
    sequences = models.task.sample(np.random.default_rng(0), 30, length)
    parts = take_apart(models, sequences)
    weights, hidden = densely(models, sequences)
    rows, target = torch.arange(30), torch.from_numpy(sequences["target"])
    own = weights[:, rows, target]
    close = {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(parts.weight.double(), own, **close)
    torch.testing.assert_close(parts.target.double(), hidden[:, rows, target], **close)
    torch.testing.assert_close(parts.weighted(parts.weight), parts.context, **close)
    others = weights.clone()
    others[:, rows, target] = 0
    rest = (others / others.sum(-1, keepdim=True)).unsqueeze(-2) @ hidden
    torch.testing.assert_close(parts.rest.double(), rest.squeeze(-2), **close)
    torch.testing.assert_close(
        parts.hard.double(), hidden.gather(2, weights.argmax(-1)[..., None, None].expand(-1, -1, 1, 32)).squeeze(2)
    )
    kept = min(DISTRACTORS, length - 1)
    largest = others.topk(kept)
    torch.testing.assert_close(
        parts.profile[:, :, :kept].double(), largest.values / largest.values.sum(-1, keepdim=True), **close
    )
    expected = hidden.gather(2, largest.indices.unsqueeze(-1).expand(-1, -1, -1, 32))
    torch.testing.assert_close(parts.largest[:, :, :kept].double(), expected, **close)
    assert not parts.largest[:, :, kept:].any()
    assert not parts.profile[:, :, kept:].any()
    if sharp and length == 9:
        assert (parts.weight > 0.8).any()
        assert (parts.weight < module.CLOSE).any()


def test_one_item_has_no_rest(task_name):
    models = Models.of(*vars(make_trained(task_name)).values())
    parts = take_apart(models, models.task.sample(np.random.default_rng(0), 5, 1))
    assert torch.equal(parts.weight, torch.ones(2, 5))
    assert torch.equal(parts.rest, parts.target)
    assert torch.equal(parts.hard, parts.target)


def test_batches_are_joined_along_the_sequences(task_name):
    models = Models.of(*vars(make_trained(task_name)).values())
    batches = [models.task.sample(np.random.default_rng(0), count, 7) for count in (3, 4)]
    both = Parts.of(models, batches)
    assert both.context.shape == (2, 7, 32)
    assert torch.equal(both.rest[:, 3:], take_apart(models, batches[1]).rest)
    labels = [models.task.label(one) for one in batches]
    assert both.labels.tolist() == np.concatenate(labels).tolist()


def test_flat_logits_average_all_items_alike(task_name):
    trained = make_trained(task_name, sharpness=SHARP[task_name])
    models = Models.of(trained.variant, trained.weights)
    sequences = models.task.sample(np.random.default_rng(0), 6, 9)
    weights, hidden = densely(models, sequences, 0.3)
    weight, context = flattened(models, sequences, 0.3)
    torch.testing.assert_close(weight.double(), weights[:, torch.arange(6), torch.from_numpy(sequences["target"])])
    torch.testing.assert_close(context.double(), (weights.unsqueeze(-2) @ hidden).squeeze(-2), rtol=1e-4, atol=1e-5)
    assert torch.allclose(flattened(models, sequences, 0.0)[0], torch.tensor(1 / 9))
