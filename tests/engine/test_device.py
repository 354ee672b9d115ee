import numpy as np
import pytest
import torch
from small import make_plan

from vanishing_variance.engine import block
from vanishing_variance.engine.device import device
from vanishing_variance.engine.kernels import attend as kernel
from vanishing_variance.measure.inference.models import Models

SMALLEST = torch.finfo(torch.float32).tiny


@pytest.fixture
def unflushed():
    """A process that keeps denormal numbers again."""
    if device().type != "cpu" or not torch.set_flush_denormal(True):
        pytest.skip("this device does not flush denormal numbers to zero")
    torch.set_flush_denormal(False)
    yield
    torch.set_flush_denormal(True)


@pytest.mark.trains
def test_a_training_flushes_denormal_numbers_to_zero_in_torch_and_compiled_kernels(unflushed):
    assert (torch.full((16,), SMALLEST) * 0.1).all()
    block._train_chunk(make_plan("argmax", steps=1), [0], None, lambda done: None)
    assert not (torch.full((16,), SMALLEST) * 0.1).any()
    if kernel.library(16) is not None:
        assert not kernel.gelu(torch.full((1, 1, 16), SMALLEST), with_slope=False)[0].any()


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
    attended = Models.of(plan.variant, weights).attend(sequences)
    return {**weights, "before": attended.before.numpy(), "after": attended.after.numpy()}


@pytest.mark.trains
@pytest.mark.parametrize("norm", ["none", "std", "ln"])
def test_nothing_reads_uninitialised_memory(task_name, norm, request):
    """So that on a GPU it need not be filled."""
    expected = trained_and_tested(task_name, norm)
    request.getfixturevalue("filled")
    for name, array in trained_and_tested(task_name, norm).items():
        np.testing.assert_array_equal(array, expected[name])
