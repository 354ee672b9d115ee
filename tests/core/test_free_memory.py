import subprocess
import sys
from types import SimpleNamespace

import pytest

from vanishing_variance.core import free_memory as module
from vanishing_variance.core.free_memory import free_addresses, free_memory

V1 = {"limit": "memory.limit_in_bytes", "used": "memory.usage_in_bytes", "files": "total_inactive_file"}
V2 = {"limit": "memory.max", "used": "memory.current", "files": "inactive_file"}


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Makes a control group, and this process its member or that of one below it."""

    def group(version, path, member, limit, used, files=0):
        names, below = (V1, "memory") if version == 1 else (V2, "")
        folder = tmp_path / "groups" / below / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / names["limit"]).write_text(f"{limit}\n")
        (folder / names["used"]).write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 1\n{names['files']} {files}\n")
        line = f"4:memory:{member}\n3:cpu:/else\n" if version == 1 else f"0::{member}\n"
        (tmp_path / "member").write_text(line)

    monkeypatch.setattr(module, "CGROUPS", tmp_path / "groups")
    monkeypatch.setattr(module, "MEMBERSHIP", tmp_path / "member")
    return group


@pytest.mark.parametrize("version", [1, 2])
def test_a_control_group_leaves_its_limit_but_what_is_used_and_not_given_back_at_need(version, group):
    group(version, "jobs/one", "/jobs/one", limit=3000, used=1000, files=400)
    assert free_memory() == 2400


@pytest.mark.parametrize("version", [1, 2])
def test_the_limit_of_a_group_above_counts_too(version, group):
    group(version, "jobs", "/jobs/one", limit=2500, used=1000)
    group(version, "jobs/one", "/jobs/one", limit=3000, used=1000)
    assert free_memory() == 1500


@pytest.mark.parametrize("version", [1, 2])
def test_within_a_container_its_own_group_is_at_the_root(version, group):
    group(version, "", "/docker/not-to-be-seen-from-here", limit=3000, used=1000)
    assert free_memory() == 2000


@pytest.mark.parametrize("limit", ["max", str(2**63 - 4096)])
def test_without_a_limit_it_is_what_the_machine_has(limit, group, monkeypatch):
    monkeypatch.setattr(module.psutil, "virtual_memory", lambda: SimpleNamespace(available=5000))
    group(2, "jobs", "/jobs", limit=limit, used=1000)
    assert free_memory() == 5000


def test_without_control_groups_it_is_what_the_machine_has(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MEMBERSHIP", tmp_path / "nowhere")
    monkeypatch.setattr(module.psutil, "virtual_memory", lambda: SimpleNamespace(available=5000))
    assert free_memory() == 5000


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of a process is read on Linux")
def test_the_addresses_that_a_limit_leaves_to_a_process():
    program = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))\n"
    program += "from vanishing_variance.core.free_memory import free_addresses; print(free_addresses())"
    left = int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    assert 2**32 < left < 2**33
    assert free_addresses() is None
