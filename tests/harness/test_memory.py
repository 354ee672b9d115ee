import subprocess
import sys
from pathlib import Path

import pytest
import torch

from vanishing_variance.harness import memory
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import require_memory

GIBIBYTE = 2**30
PARAMETERS = {"training.batch_size": 128, "seeds_per_block": 8}


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine with 8 GiB of free memory, and a folder for control groups of which this process is in /jobs/one."""
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 8 * GIBIBYTE}))
    monkeypatch.setattr(memory, "CGROUPS", tmp_path)
    monkeypatch.setattr(memory, "MEMBERSHIP", tmp_path / "cgroup")
    (tmp_path / "cgroup").write_text("1:name=systemd:/\n0::/jobs/one\n")
    (tmp_path / "jobs/one").mkdir(parents=True)
    return tmp_path


def limit(group: Path, maximum, used):
    (group / "memory.max").write_text(f"{maximum}\n")
    (group / "memory.stat").write_text(f"anon {used}\nfile 12345\n")


def test_what_plainly_does_not_fit_is_refused_with_what_to_lower(machine):
    require_memory(2 * GIBIBYTE, PARAMETERS)
    with pytest.raises(InputError) as refused:
        require_memory(3 * GIBIBYTE, PARAMETERS)
    assert str(refused.value) == (
        "needs about 12.0 GiB of memory, of which 8.0 GiB are free; "
        "lower training.batch_size (128) or seeds_per_block (8)"
    )


@pytest.mark.parametrize("group", ["jobs/one", "jobs", ""])
def test_a_limit_of_a_control_group_holds_for_those_within(machine, group):
    limit(machine / group, 3 * GIBIBYTE, GIBIBYTE)
    with pytest.raises(InputError, match=r"of which 2\.0 GiB are free"):
        require_memory(GIBIBYTE, PARAMETERS)


def test_a_control_group_without_a_limit_leaves_what_the_machine_has(machine):
    limit(machine / "jobs/one", "max", GIBIBYTE)
    require_memory(2 * GIBIBYTE, PARAMETERS)


def test_on_a_gpu_its_own_memory_counts(machine, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (20 * GIBIBYTE, 24 * GIBIBYTE))
    require_memory(4 * GIBIBYTE, PARAMETERS)
    with pytest.raises(InputError, match=r"of which 20\.0 GiB are free"):
        require_memory(6 * GIBIBYTE, PARAMETERS)


def test_the_check_does_not_import_torch():
    program = "import sys; from vanishing_variance.harness.memory import require_memory\n"
    program += "require_memory(1, {'a': 1}); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
