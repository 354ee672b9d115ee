"""Jobs of a real SLURM of one node, which this test starts."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import wait_for
from slurm import one_node, said
from tiny import ROOT, STAGES, Tiny, stage, until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
# It notes its job, and ends when ran/on is there.
SLOW = stage("slow", "echo $SLURM_JOB_ID >> ran/slow", until("ran/on"), deps=["a"])
PARTITION = ("scontrol", "update", "PartitionName=main")
JOB = {"cores": "1", "memory": "500MB", "walltime": "00:10:00"}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """The environment of a command that uses it; its jobs find Dask's scheduler on loopback."""
    with one_node(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment | {"PYTHONPATH": str(ROOT / "src"), "DASK_JOBQUEUE__SLURM__INTERFACE": "lo"}


@contextmanager
def repro(tiny, slurm, **more):
    options = [f"--slurm-option={name}={value}" for name, value in (JOB | more).items()]
    command = [sys.executable, "-m", "dvc_parallel", "repro", "--slurm", "2", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=tiny.path, env=slurm, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def jobs(slurm):
    """Those that run or wait."""
    return said("squeue", "--noheader", "--format=%A", environment=slurm).split()


def test_the_stage_of_a_cancelled_job_is_finished_by_another_and_the_job_is_replaced(tmp_path, slurm):
    """Even when SLURM refuses the new job at first."""
    tiny = Tiny.new(tmp_path / "tiny", {"a": STAGES["a"], "slow": SLOW})
    other = tiny.copied()
    began = tiny.path / "ran/slow"
    log = Path(slurm["SLURM_CONF"]).with_name("log")
    with repro(tiny, slurm) as process:
        wait_for(lambda: began.exists() and began.read_text())
        wait_for(lambda: len(jobs(slurm)) == 2)
        first = began.read_text().strip()
        said(*PARTITION, "State=DRAIN", environment=slurm)
        said("scancel", first, environment=slurm)
        wait_for(lambda: len(began.read_text().split()) == 2)
        wait_for(lambda: "partition not available" in log.read_text())
        said(*PARTITION, "State=UP", environment=slurm)
        wait_for(lambda: first not in jobs(slurm) and len(jobs(slurm)) == 2)
        (tiny.path / "ran/on").touch()
        printed = process.communicate(timeout=600)[0]
    assert process.returncode == 0, printed
    assert "slow: its worker tcp://127.0.0.1:" in printed
    (other.path / "ran/on").touch()
    other.dvc()
    assert tiny.lock() == other.lock()
    wait_for(lambda: not jobs(slurm))


def test_what_slurm_refuses_is_one_line(tmp_path, slurm):
    with repro(Tiny.new(tmp_path / "tiny"), slurm, queue="nowhere") as process:
        printed = process.communicate(timeout=600)[0]
    assert process.returncode == 2
    assert printed.splitlines()[-1].startswith("error: --slurm: sbatch refused the job: sbatch: error: ")
