"""How often each fault was tried and survived: a table at the end of the run, and with --table=FILE in that file."""

import re
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest
from checkout import Copy
from finished import Finished


def pytest_addoption(parser):
    parser.addoption("--table", type=Path, help="put the table of faults into this Markdown file, in place of its own")


@pytest.fixture
def tally(record_property):
    """Note that a fault was tried, and how often it was survived."""
    return lambda fault, tried, survived: record_property("fault", (fault, tried, survived))


@pytest.fixture
def tried(tally):
    """A context in which a fault is made once, and survived where nothing is raised."""

    @contextmanager
    def count(fault):
        try:
            yield
        except BaseException:
            tally(fault, 1, 0)
            raise
        tally(fault, 1, 1)

    return count


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A copy after an undisturbed `dvc repro`, committed."""
    copy = Copy.of_this_checkout(tmp_path_factory.mktemp("whole"), None)
    copy("dvc", "repro")
    copy.commit("results")
    return copy


@pytest.fixture(scope="session")
def finished_once(tmp_path_factory):
    return Finished(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def finished_run(finished_once, monkeypatch):
    """A finished run at a tiny scale, in the current folder; put back to what it was afterwards."""
    monkeypatch.chdir(finished_once.folder)
    yield finished_once
    finished_once.restore()


def pytest_terminal_summary(terminalreporter, config):
    counts = defaultdict(lambda: [0, 0])
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "fault" and report.when == "call":
                    fault, tried, survived = value
                    counts[fault][0] += tried
                    counts[fault][1] += survived
    if not counts:
        return
    rows = [f"| {fault} | {tried} | {survived} | {tried - survived} |" for fault, (tried, survived) in counts.items()]
    table = "\n".join(["| fault | tried | survived | lost |", "|---|---|---|---|", *sorted(rows)])
    terminalreporter.write_sep("=", "faults")
    terminalreporter.write_line(table)
    if (path := config.getoption("--table")) is not None:
        path.write_text(re.sub(r"(\|.*\|\n)+", f"{table}\n", path.read_text(), count=1))
