from collections import Counter

import pytest
from finished import Finished


@pytest.fixture(scope="session")
def finished_once(tmp_path_factory):
    return Finished(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def finished(finished_once, monkeypatch):
    """A finished run, in the current folder; put back to what it was afterwards."""
    monkeypatch.chdir(finished_once.folder)
    yield finished_once
    finished_once.restore()


@pytest.fixture
def fault(record_property):
    """Call it with the fault's name each time that it is made: they are counted."""
    return lambda name: record_property("fault", name)


def pytest_terminal_summary(terminalreporter):
    """How often each fault was made, in tests that passed and in those that failed."""
    counts = {
        outcome: Counter(
            name
            for report in terminalreporter.stats.get(outcome, [])
            for key, name in report.user_properties
            if key == "fault"
        )
        for outcome in ("passed", "failed")
    }
    survived, lost = counts["passed"], counts["failed"]
    if names := sorted({*survived, *lost}):
        terminalreporter.section("faults")
        terminalreporter.write_line("| fault | tried | survived | lost |\n|---|--:|--:|--:|")
        for name in names:
            tried = survived[name] + lost[name]
            terminalreporter.write_line(f"| {name} | {tried} | {survived[name]} | {lost[name]} |")
