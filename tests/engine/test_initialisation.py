import numpy as np
import pytest
from small import make_model, make_plan

from vanishing_variance.engine.initialisation import draw


@pytest.mark.parametrize(
    ("scheme", "std", "largest"),
    [("torch", (3 * 32) ** -0.5, 32**-0.5), ("lecun", 32**-0.5, None), ("xavier", (2 / 42) ** 0.5, (6 / 42) ** 0.5)],
)
def test_linear_layers_start_as_their_scheme_says(scheme, std, largest):
    """From 32 inputs to 10 outputs; uniform but for lecun, and with a bias where it is torch's."""
    plan = make_plan(model=make_model(initialisation=scheme))
    drawn = draw(plan.variant.initial(plan.task_training), 0, "argmax", range(40))
    weights = {name: tensor.numpy() for name, tensor in drawn.items()}
    weight, bias = weights["head.2.weight"], weights["head.2.bias"]
    assert weight.shape == (40, 10, 32)
    assert bias.shape == (40, 10)
    assert weight.std() == pytest.approx(std, rel=0.02)
    assert (
        np.abs(weight).max() > 3 * std if largest is None else np.abs(weight).max() == pytest.approx(largest, rel=0.01)
    )
    if scheme == "torch":
        assert np.abs(bias).max() == pytest.approx(largest, rel=0.05)
    else:
        assert not bias.any()
