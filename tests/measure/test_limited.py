import resource

import psutil
import pytest

from vanishing_variance.harness import cgroups, memory
from vanishing_variance.measure.plain_models import limited

MEBIBYTE = 2**20
pytestmark = pytest.mark.skipif(not psutil.LINUX, reason="not Linux")


@pytest.fixture
def used(monkeypatch):
    """Bytes of data of this process, on a machine of four cores with 400 MiB of free memory; it keeps its limit."""
    monkeypatch.setattr(memory, "free_memory", lambda: 400 * MEBIBYTE)
    monkeypatch.setattr(cgroups, "cores", lambda: 4)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    yield psutil.Process().memory_info().data
    resource.setrlimit(resource.RLIMIT_DATA, before)


def limit():
    return resource.getrlimit(resource.RLIMIT_DATA)[0]


def test_a_batch_has_the_part_of_a_core_even_in_a_stage_that_has_one(used):
    """Stages that run at once have a core each."""
    with limited._limited():
        assert used < limit() < used + 120 * MEBIBYTE


def test_a_limit_of_the_user_is_never_raised(used):
    mine = used + 20 * MEBIBYTE
    resource.setrlimit(resource.RLIMIT_DATA, (mine, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    with limited._limited():
        assert limit() == mine
    assert limit() == mine
