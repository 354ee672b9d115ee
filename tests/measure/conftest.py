import pytest

from vanishing_variance.harness import parallel


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
