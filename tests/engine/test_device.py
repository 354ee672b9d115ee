import pytest
import torch
from small import make_plan

from vanishing_variance.engine import ensemble
from vanishing_variance.engine.device import device
from vanishing_variance.engine.kernels import attend as kernel

SMALLEST = torch.finfo(torch.float32).tiny


@pytest.fixture
def unflushed():
    """A process that has not asked for the device yet, and keeps denormal numbers."""
    if device().type != "cpu" or not torch.set_flush_denormal(True):
        pytest.skip("this device does not flush denormal numbers to zero")
    torch.set_flush_denormal(False)
    device.cache_clear()
    yield
    torch.set_flush_denormal(True)


@pytest.mark.trains
def test_a_training_flushes_denormal_numbers_to_zero_in_torch_and_compiled_kernels(unflushed):
    assert (torch.full((16,), SMALLEST) * 0.1).all()
    ensemble._train_chunk(make_plan("argmax", steps=1), [0], None, lambda done: None)
    assert not (torch.full((16,), SMALLEST) * 0.1).any()
    if kernel.library(16) is not None:
        assert not kernel.gelu(torch.full((1, 1, 16), SMALLEST), with_slope=False)[0].any()
