import errno

import pytest
import torch

from vanishing_variance.harness import memory
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import ran_out, require_memory

GIBIBYTE = 2**30
PARAMETERS = {"training.batch_size": 128, "seeds_per_block": 8}


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine with 8 GiB of free memory, without control groups."""
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 8 * GIBIBYTE}))
    monkeypatch.setattr(memory.cgroups, "memory_left", list)


def test_what_plainly_does_not_fit_is_refused_with_what_to_lower():
    require_memory(2 * GIBIBYTE, PARAMETERS)
    with pytest.raises(InputError) as refused:
        require_memory(3 * GIBIBYTE, PARAMETERS)
    assert str(refused.value) == (
        "needs about 12.0 GiB of memory, of which 8.0 GiB are free; "
        "lower training.batch_size (128) or seeds_per_block (8)"
    )


def test_what_a_control_group_leaves_is_what_is_free(monkeypatch):
    monkeypatch.setattr(memory.cgroups, "memory_left", lambda: [9 * GIBIBYTE, 2 * GIBIBYTE])
    with pytest.raises(InputError, match=r"of which 2\.0 GiB are free"):
        require_memory(GIBIBYTE, PARAMETERS)


@pytest.mark.parametrize(
    ("problem", "memory"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "no memory"), True),
        (OSError(errno.ENOSPC, "out of memory"), False),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (RuntimeError("could not create a primitive"), True),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate"), True),
        (RuntimeError("shapes differ"), False),
    ],
)
def test_errors_for_want_of_memory_are_told_from_others(problem, memory):
    assert ran_out(problem) == memory


def test_on_a_gpu_its_own_memory_counts(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (20 * GIBIBYTE, 24 * GIBIBYTE))
    require_memory(4 * GIBIBYTE, PARAMETERS)
    with pytest.raises(InputError, match=r"of which 20\.0 GiB are free"):
        require_memory(6 * GIBIBYTE, PARAMETERS)
