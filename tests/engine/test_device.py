import numpy as np
import pytest
import torch
from small import make_plan

from vanishing_variance.engine import block
from vanishing_variance.measure.inference.models import Models


@pytest.fixture
def filled():
    """Uninitialised memory is filled with NaN, as torch does for deterministic algorithms unless it is told not to."""
    torch.use_deterministic_algorithms(True)
    assert torch.empty(64).isnan().all()
    yield
    torch.use_deterministic_algorithms(False)


def trained_and_tested(task, norm):
    plan = make_plan(task, norm, steps=6)
    weights = block._train_chunk(plan, [0, 1], None, lambda done: None).weights
    sequences = plan.variant.task.sample(np.random.default_rng(0), 20, 40)
    attended = Models.of(plan.variant, weights).attended(sequences)
    return {**weights, "before": attended.before.numpy(), "after": attended.after.numpy()}


@pytest.mark.trains
@pytest.mark.parametrize("norm", ["none", "std", "ln"])
def test_nothing_reads_uninitialised_memory(task_name, norm, request):
    """So that on a GPU it need not be filled."""
    expected = trained_and_tested(task_name, norm)
    request.getfixturevalue("filled")
    for name, array in trained_and_tested(task_name, norm).items():
        np.testing.assert_array_equal(array, expected[name])
