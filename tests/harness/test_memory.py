"""Memory and cores that are free, also in control groups of both versions; in a container its own group is the root."""

import errno

import pytest
import torch

from vanishing_variance.harness import machine, memory
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import ran_out, require_memory

GIBIBYTE = 2**30
PARAMETERS = {"training.batch_size": 128, "seeds_per_block": 8}
VERSION_2 = "0::/jobs/one\n"
VERSION_1 = "5:memory:/jobs/one\n4:cpu,cpuacct:/jobs/one\n1:name=systemd:/\n0::/\n"
# Of version 2: what /proc/self/cgroup says, and which folders may have the limits.
GROUPS = [(VERSION_2, folder) for folder in ("jobs/one", "jobs", "")] + [("0::/\n", ""), ("0::/../other\n", "")]


def test_what_plainly_does_not_fit_is_refused_with_what_to_lower():
    require_memory(2 * GIBIBYTE, PARAMETERS)
    with pytest.raises(InputError) as refused:
        require_memory(3 * GIBIBYTE, PARAMETERS)
    assert str(refused.value) == (
        "needs more memory than there is, about 12.0 GiB, of which 8.0 GiB are free; "
        "lower training.batch_size (128) or seeds_per_block (8)"
    )


def test_what_a_control_group_leaves_is_what_is_free(monkeypatch):
    monkeypatch.setattr(memory.machine, "memory_left", lambda: [9 * GIBIBYTE, 2 * GIBIBYTE])
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


@pytest.fixture(autouse=True)
def root(monkeypatch, tmp_path):
    """A folder for control groups; a process of none, on a machine of four cores with 8 GiB of free memory."""
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 8 * GIBIBYTE}))
    monkeypatch.setattr(machine, "ROOT", tmp_path / "groups")
    monkeypatch.setattr(machine, "MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda process: {0, 1, 2, 3}, raising=False)
    return tmp_path / "groups"


def write(membership, folder, files):
    machine.MEMBERSHIP.write_text(membership)
    (machine.ROOT / folder).mkdir(parents=True)
    for name, text in files.items():
        (machine.ROOT / folder / name).write_text(f"{text}\n")


@pytest.mark.parametrize(("membership", "folder"), GROUPS)
def test_limits_of_version_2(membership, folder):
    memory = {"memory.max": 3 * GIBIBYTE, "memory.stat": f"anon {GIBIBYTE}\nfile 12345"}
    write(membership, folder, memory | {"cpu.max": "150000 100000"})
    assert (machine.cores(), machine.memory_left()) == (2, [2 * GIBIBYTE])


@pytest.mark.parametrize("folder", ["/jobs/one", "/jobs", ""])
@pytest.mark.parametrize(("quota", "cores"), [(50_000, 1), (150_000, 2), (800_000, 4), (-1, 4)])
def test_limits_of_version_1(folder, quota, cores):
    memory = {"memory.limit_in_bytes": 3 * GIBIBYTE, "memory.stat": f"rss 1\ntotal_rss {GIBIBYTE}"}
    write(VERSION_1, f"memory{folder}", memory)
    write(VERSION_1, f"cpu{folder}", {"cpu.cfs_quota_us": quota, "cpu.cfs_period_us": 100_000})
    assert (machine.cores(), machine.memory_left()) == (cores, [2 * GIBIBYTE])


def test_a_group_without_limits_leaves_what_the_machine_has():
    write(VERSION_2, "jobs/one", {"memory.max": "max", "memory.stat": "anon 5", "cpu.max": "max 100000"})
    assert (machine.cores(), machine.memory_left()) == (4, [])
