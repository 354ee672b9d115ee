import pytest
from scripts import stage

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.paths import NETWORK


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """The one line with which a script refuses what it finds in this folder, of which it touches nothing."""
    monkeypatch.chdir(tmp_path)
    write_text(NETWORK, "network: paper\n")

    def state():
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    def refused(*script):
        before = state()
        code, said = stage(*script)
        assert code == 2, said
        assert said.startswith("error: ")
        assert said.endswith("\n")
        assert said[:-1].isprintable()  # so it is one line
        assert len(said) < 1100
        assert state() == before
        return said

    return refused
