import numpy as np
import pytest
import torch
from small import make_model, make_plan

from vanishing_variance.model.initialisation import draw


def drawn(**changes):
    plan = make_plan(model=make_model(**changes))
    weights = draw(plan.variant.initial(plan.task_training), 0, "argmax", range(40))
    return {name: tensor.numpy() for name, tensor in weights.items()}


def test_by_default_linear_layers_start_as_torchs_do():
    weights, torchs = drawn(), torch.nn.Linear(32, 10).weight.detach()
    head = weights["head.2.weight"]
    assert head.shape == (40, 10, 32)
    assert np.abs(head).max() == pytest.approx(32**-0.5, rel=1e-3)
    assert torchs.abs().max().item() == pytest.approx(32**-0.5, rel=0.05)
    assert head.std() == pytest.approx(torchs.std().item(), rel=0.15)
    assert np.abs(weights["head.2.bias"]).max() == pytest.approx(32**-0.5, rel=0.02)


@pytest.mark.parametrize(("scheme", "std"), [("lecun", 32**-0.5), ("xavier", (2 / 42) ** 0.5)])
def test_other_schemes_have_their_variance_and_no_bias(scheme, std):
    weights = drawn(initialisation=scheme)
    assert weights["head.2.weight"].std() == pytest.approx(std, rel=0.02)
    assert not weights["head.2.bias"].any()
    if scheme == "xavier":
        assert np.abs(weights["head.2.weight"]).max() == pytest.approx((6 / 42) ** 0.5, rel=1e-3)
    else:
        assert np.abs(weights["head.2.weight"]).max() > 3 * std


def test_attention_has_biases_when_asked_but_none_that_softmax_removes():
    without, with_them = drawn(), drawn(attention_biases=True)
    assert set(with_them) - set(without) == {f"attention.{part}.bias" for part in ("query", "value", "output")}
    assert all(np.array_equal(without[name], with_them[name]) for name in without)
