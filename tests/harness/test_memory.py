import errno
import os

import numpy as np
import pytest
import torch
from jobs import end

from vanishing_variance.harness import memory as module
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import PROCESS, Need, Term, require_memory

GIBIBYTE = 2**30
LOWER = "lower batch (7) or length (5)"
FEWER = f"use fewer cores (taskset -c 0), or {LOWER}"
A_PROCESS = PROCESS * 1.5 / GIBIBYTE  # one that computes next to nothing, not two


def need(gibibytes, processes=1, gpu=None):
    """Tensors of this size, which lengths and batches make, and data that is a little."""
    data = Term(gibibytes * GIBIBYTE / 100, {"seeds": 3})
    tensors = Term(gibibytes * GIBIBYTE, {"batch": 7, "length": 5})
    return Need("train x", data=(data,), tensors=(tensors,), processes=processes, gpu=gpu)


@pytest.fixture
def there(monkeypatch):
    """Lets so many gibibytes be free, and as many addresses."""

    def there(gibibytes, addresses=None):
        monkeypatch.setattr(module, "free_memory", lambda: int(gibibytes * GIBIBYTE))
        monkeypatch.setattr(module, "free_addresses", lambda: None if addresses is None else addresses * GIBIBYTE)

    return there


@pytest.mark.parametrize(("needed", "free"), [(need(1), 2), (need(20, gpu=30 * GIBIBYTE), 2), (need(0.01), A_PROCESS)])
def test_it_begins_when_there_is_enough(needed, free, there):
    there(free)
    begun = False
    with require_memory(needed):
        begun = True
    assert begun


@pytest.mark.parametrize(
    ("needed", "free", "said"),
    [
        (need(20), (2,), f"about 21 GiB and 2.0 GiB are free; {LOWER}"),
        (need(20), (100, 10), f"(ulimit -v), and 10 GiB are free; {LOWER}"),
        (need(20, gpu=10 * GIBIBYTE), (2,), f"about 20 GiB on the GPU and 10 GiB are free; {LOWER}"),
        (need(19.85, processes=2), (40,), f"about 41 GiB in 2 processes and 40 GiB are free; {FEWER}"),
    ],
)
def test_too_little_is_refused_before_it_begins_and_what_to_lower_is_said(needed, free, said, there):
    there(*free)
    with pytest.raises(InputError) as refused, require_memory(needed):
        raise AssertionError("it must not begin")
    assert str(refused.value).endswith(said)


def of_python():
    np.empty(2**60, dtype=np.uint8)


def of_torch():
    torch.empty(2**60, dtype=torch.uint8)


def of_a_gpu():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")


def of_the_system():
    raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


@pytest.mark.parametrize("happens", [of_python, of_torch, of_a_gpu, of_the_system])
def test_memory_that_runs_out_all_the_same_says_what_to_lower(happens, there):
    there(2)
    with pytest.raises(InputError) as refused, require_memory(need(1)):
        happens()
    assert str(refused.value) == f"train x: memory ran out; {LOWER}"


def test_a_process_that_is_killed_says_what_to_lower(there, monkeypatch):
    there(4)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    with pytest.raises(InputError) as refused, require_memory(need(1, processes=2)):
        parallel.run([end, end], print)
    assert str(refused.value).startswith("train x: one of its processes was killed")
    assert str(refused.value).endswith(FEWER)
