"""Our graph, with commands that sleep for a moment of their own: whatever ends first, dvc.lock is a serial run's."""

import os
import re
import subprocess
import sys

import pytest

from benchmarks.simulation import ROOT, Scale, build

pytestmark = pytest.mark.slow

ROUNDS = 10
MOMENT = "sleep 0.$(od -An -N1 -tu1 /dev/urandom | tr -d ' ');"


@pytest.fixture(scope="module")
def asleep(tmp_path_factory):
    """Runs the graph from nothing, by DVC or by so many workers; gives dvc.lock."""

    def run(*command):
        folder = tmp_path_factory.mktemp("graph")
        paths = os.pathsep.join(map(str, (ROOT, ROOT / "src")))
        environment = {**os.environ, "PYTHONPATH": paths, "DVC_NO_ANALYTICS": "1"}
        environment["DVC_SITE_CACHE_DIR"] = str(folder / ".dvc/site")
        build(folder, Scale(1, 1, ()), environment)
        text = (folder / "dvc.yaml").read_text()
        (folder / "dvc.yaml").write_text(re.sub(r"sleep [\d.]+;", MOMENT, text))
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=folder, env=environment, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return (folder / "dvc.lock").read_bytes()

    return run


@pytest.fixture(scope="module")
def serial(asleep):
    return asleep("dvc", "repro")


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("number", range(ROUNDS))
def test_the_record_is_a_serial_runs(workers, number, asleep, serial, tally):
    same = asleep("dvc_parallel", "repro", "--workers", str(workers)) == serial
    tally(f"stages end in any order, {workers} workers: dvc.lock as of `dvc repro`", 1, same)
    assert same
