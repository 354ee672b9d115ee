import subprocess
import sys
from types import SimpleNamespace

import pytest

from vanishing_variance.harness import free_memory as module
from vanishing_variance.harness.free_memory import free_addresses, free_memory

V1 = {"limit": "memory.limit_in_bytes", "used": "memory.usage_in_bytes", "files": "total_inactive_file"}
V2 = {"limit": "memory.max", "used": "memory.current", "files": "inactive_file"}


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A machine with 5,000 bytes free, and without control groups."""
    monkeypatch.setattr(module, "CGROUPS", tmp_path / "groups")
    monkeypatch.setattr(module, "MEMBERSHIP", tmp_path / "member")
    monkeypatch.setattr(module.psutil, "virtual_memory", lambda: SimpleNamespace(available=5000))


@pytest.fixture
def group(tmp_path):
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

    return group


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("groups", "member", "left"),
    [
        ({"jobs/one": (3000, 1000, 400)}, "/jobs/one", 2400),  # of files that are given back at need
        ({"jobs": (2500, 1000, 0), "jobs/one": (3000, 1000, 0)}, "/jobs/one", 1500),
        ({"": (3000, 1000, 0)}, "/docker/not-to-be-seen-from-here", 2000),  # within a container
    ],
)
def test_a_group_and_those_above_leave_their_limit_but_what_is_used(version, groups, member, left, group):
    for path, numbers in groups.items():
        group(version, path, member, *numbers)
    assert free_memory() == left


@pytest.mark.parametrize("limit", [None, "max", str(2**63 - 4096)])
def test_without_a_limit_it_is_what_the_machine_has(limit, group):
    if limit is not None:
        group(2, "jobs", "/jobs", limit=limit, used=1000)
    assert free_memory() == 5000


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of a process is read on Linux")
def test_the_addresses_that_a_limit_leaves_to_a_process():
    program = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))\n"
    program += "from vanishing_variance.harness.free_memory import free_addresses; print(free_addresses())"
    left = int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    assert 2**32 < left < 2**33
    assert free_addresses() is None
