import math

import pytest
import torch
from small import make_plan

from vanishing_variance.model.initialisation import draw
from vanishing_variance.training import adam, loop
from vanishing_variance.training.rates import learning_rates

RATES = [0.01, 0.005, 0.0, 0.0, 0.0]


def test_constant_or_half_a_cosine_down_to_0():
    how = make_plan().training
    assert torch.equal(learning_rates(how, 5), torch.full((5,), 0.01, dtype=torch.float64))
    cosine = learning_rates(how.model_copy(update={"decay": "cosine"}), 1000).tolist()
    assert cosine == pytest.approx([0.005 * (1 + math.cos(math.pi * step / 1000)) for step in range(1000)])
    assert cosine[0] == 0.01
    assert cosine[500] == pytest.approx(0.005)
    assert 0 < cosine[-1] < 1e-7


def test_a_training_has_the_decay_of_its_plan(monkeypatch):
    made = []
    monkeypatch.setattr(loop, "learning_rates", lambda how, steps: made.append(how.decay) or learning_rates(how, steps))
    for decay in ("none", "cosine"):
        plan = make_plan("argmax", steps=2, decay=decay)
        loop.train(plan, draw(plan.variant.initial(plan.task_training), 0, "argmax", [0]), [0])
    assert made == ["none", "cosine"]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_training_takes_the_rate_of_each_step(task_name, compiled, monkeypatch):
    """With a rate of 0 from the third step on, two steps and five end at the same weights."""
    if not compiled:
        monkeypatch.setattr(adam, "library", lambda: None)
    ended = []
    for steps in (2, 5):
        plan = make_plan(task_name, steps=steps)
        monkeypatch.setattr(loop, "learning_rates", lambda how, steps: torch.tensor(RATES[:steps]).double())
        weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, task_name, [0, 1])
        loop.train(plan, weights, [0, 1])
        ended.append(weights)
    for name, tensor in ended[0].items():
        torch.testing.assert_close(tensor, ended[1][name], rtol=0, atol=1e-7)
    first = draw(plan.variant.initial(plan.task_training), plan.root_seed, task_name, [0, 1])
    assert any((tensor - ended[0][name]).abs().max() > 1e-3 for name, tensor in first.items())
