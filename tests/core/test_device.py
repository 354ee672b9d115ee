from functools import partial

import pytest
import torch
from small import make_plan

from vanishing_variance.core import parallel
from vanishing_variance.core.device import device
from vanishing_variance.model.kernels import attend as kernel
from vanishing_variance.training import ensemble

SMALLEST = torch.finfo(torch.float32).tiny

needs_flushing = pytest.mark.skipif(
    device().type != "cpu" or not torch.set_flush_denormal(True), reason="this device computes no denormal numbers away"
)


def denormals(report):
    """What torch and a compiled kernel make of a tenth of the smallest normal number, after a training."""
    plan = make_plan("argmax", steps=2)
    ensemble._train_chunk(plan, [0], None, report)
    results = [torch.full((16,), SMALLEST) * 0.1]
    if kernel.library(16) is not None:
        results.append(kernel.gelu(torch.full((1, 1, 16), SMALLEST), differentiated=False)[0])
    return [result.abs().max().item() for result in results]


@needs_flushing
@pytest.mark.parametrize("processes", [1, 2])
def test_where_a_training_runs_denormal_numbers_are_zero(processes, monkeypatch):
    torch.set_flush_denormal(False)
    device.cache_clear()
    monkeypatch.setattr(parallel, "cores", lambda: processes)
    for results in parallel.run([partial(denormals), partial(denormals)], lambda done: None):
        assert results
        assert not any(results)


@needs_flushing
def test_without_it_they_are_not():
    torch.set_flush_denormal(False)
    try:
        assert (torch.full((16,), SMALLEST) * 0.1).any()
    finally:
        torch.set_flush_denormal(True)
