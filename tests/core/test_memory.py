import errno
import os
import signal
from functools import partial

import numpy as np
import pytest
import torch

from vanishing_variance.core import memory as module
from vanishing_variance.core import parallel
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.memory import PROCESS, Need, Term, require_memory

GIBIBYTE = 2**30


def need(gibibytes, processes=1, gpu=None):
    """Tensors of this size, which lengths and batches make, and data that is a little."""
    data, tensors = (
        Term(gibibytes * GIBIBYTE / 100, {"seeds": 3}),
        Term(gibibytes * GIBIBYTE, {"batch": 7, "length": 5}),
    )
    return Need("train x", data=(data,), tensors=(tensors,), processes=processes, gpu=gpu)


@pytest.fixture
def there(monkeypatch):
    """Lets so many gibibytes be free, and as many addresses."""

    def there(gibibytes, addresses=None):
        monkeypatch.setattr(module, "free_memory", lambda: int(gibibytes * GIBIBYTE))
        monkeypatch.setattr(module, "free_addresses", lambda: None if addresses is None else addresses * GIBIBYTE)

    return there


def refusal(needed):
    with pytest.raises(InputError) as refused, require_memory(needed):
        raise AssertionError("it must not begin")
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_it_begins_when_there_is_enough(there):
    there(2)
    begun = []
    with require_memory(need(1)):
        begun.append(True)
    assert begun


def test_too_little_is_refused_before_it_begins_and_what_to_lower_is_said(there):
    there(2)
    assert refusal(need(20)) == "train x: needs about 21 GiB and 2.0 GiB are free; lower batch (7) or length (5)"


def test_all_processes_together_must_find_room(there):
    there(40)
    said = "train x: needs about 41 GiB in 2 processes and 40 GiB are free; use fewer cores (taskset -c 0), or lower "
    assert refusal(need(19.85, processes=2)).startswith(said)
    assert "fewer cores" not in refusal(need(60, processes=2))


def test_each_process_must_keep_to_its_limit(there):
    there(100, addresses=10)
    said = "train x: needs about 21 GiB in one process, which has a limit (ulimit -v), and 10 GiB are free; lower batch"
    assert refusal(need(20)).startswith(said)


def test_tensors_must_find_room_on_the_gpu_and_take_none_beside_it(there):
    there(2)
    said = "train x: needs about 20 GiB on the GPU and 10 GiB are free; lower batch (7) or length (5)"
    assert refusal(need(20, gpu=10 * GIBIBYTE)) == said
    with require_memory(need(20, gpu=30 * GIBIBYTE)):
        pass


def test_a_process_counts_before_it_computes(there):
    there(PROCESS * 1.5 / GIBIBYTE)
    with require_memory(need(0.01)):
        pass
    assert "in 2 processes" in refusal(need(0.01, processes=2))


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
    assert str(refused.value) == "train x: memory ran out; lower batch (7) or length (5)"


@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "full"), RuntimeError("shapes"), ValueError("x")])
def test_other_exceptions_are_left_as_they_are(problem, there):
    there(2)
    with pytest.raises(type(problem)) as raised, require_memory(need(1)):
        raise problem
    assert raised.value is problem


def end(report):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(report):
    of_torch()


@pytest.mark.parametrize(
    ("job", "said"),
    [(end, "one of its processes was killed: if it was not you, memory ran out"), (fail, "memory ran out")],
)
def test_it_is_said_whichever_process_it_happens_in(job, said, there, monkeypatch):
    there(4)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    with pytest.raises(InputError, match=f"train x: {said}") as refused, require_memory(need(1, processes=2)):
        parallel.run([partial(job), partial(job)], print)
    assert str(refused.value).endswith("use fewer cores (taskset -c 0), or lower batch (7) or length (5)")
