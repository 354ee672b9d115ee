"""Limits of control groups, of both versions; in a container its own group is the root, whatever its path is called."""

import pytest

from vanishing_variance.harness import cgroups

GIBIBYTE = 2**30
VERSION_2 = "0::/jobs/one\n"
VERSION_1 = "5:memory:/jobs/one\n4:cpu,cpuacct:/jobs/one\n1:name=systemd:/\n0::/\n"
# By version: what /proc/self/cgroup says, and which folders may have the limits.
GROUPS = [(VERSION_2, folder) for folder in ("jobs/one", "jobs", "")] + [("0::/\n", ""), ("0::/../other\n", "")]
GROUPS_1 = [(VERSION_1, folder) for folder in ("/jobs/one", "/jobs", "")]


@pytest.fixture(autouse=True)
def root(monkeypatch, tmp_path):
    """A folder for control groups; a process of none, on a machine of four cores."""
    monkeypatch.setattr(cgroups, "ROOT", tmp_path / "groups")
    monkeypatch.setattr(cgroups, "MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(cgroups.os, "sched_getaffinity", lambda process: {0, 1, 2, 3}, raising=False)
    return tmp_path / "groups"


def write(membership, folder, files):
    cgroups.MEMBERSHIP.write_text(membership)
    (cgroups.ROOT / folder).mkdir(parents=True)
    for name, text in files.items():
        (cgroups.ROOT / folder / name).write_text(f"{text}\n")


def test_without_control_groups_there_is_no_limit():
    assert (cgroups.cores(), cgroups.memory_left()) == (4, [])


@pytest.mark.parametrize(("membership", "folder"), GROUPS)
def test_memory_of_version_2(membership, folder):
    write(membership, folder, {"memory.max": 3 * GIBIBYTE, "memory.stat": f"anon {GIBIBYTE}\nfile 12345"})
    assert cgroups.memory_left() == [2 * GIBIBYTE]


@pytest.mark.parametrize(("membership", "folder"), GROUPS_1)
def test_memory_of_version_1(membership, folder):
    files = {"memory.limit_in_bytes": 3 * GIBIBYTE, "memory.stat": f"rss 1\ntotal_rss {GIBIBYTE}"}
    write(membership, f"memory{folder}", files)
    assert cgroups.memory_left() == [2 * GIBIBYTE]


PARTS = [(50_000, 1), (100_000, 1), (150_000, 2), (800_000, 4)]


@pytest.mark.parametrize(("quota", "expected"), PARTS)
@pytest.mark.parametrize(("membership", "folder"), GROUPS)
def test_cores_of_version_2(membership, folder, quota, expected):
    write(membership, folder, {"cpu.max": f"{quota} 100000"})
    assert cgroups.cores() == expected


@pytest.mark.parametrize(("quota", "expected"), [*PARTS, (-1, 4)])
@pytest.mark.parametrize(("membership", "folder"), GROUPS_1)
def test_cores_of_version_1(membership, folder, quota, expected):
    write(membership, f"cpu{folder}", {"cpu.cfs_quota_us": quota, "cpu.cfs_period_us": 100_000})
    assert cgroups.cores() == expected


def test_a_group_without_limits_leaves_what_the_machine_has():
    write(VERSION_2, "jobs/one", {"memory.max": "max", "memory.stat": "anon 5", "cpu.max": "max 100000"})
    assert (cgroups.cores(), cgroups.memory_left()) == (4, [])
