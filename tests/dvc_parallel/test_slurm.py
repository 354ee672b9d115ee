"""Jobs of SLURM, in whose place two scripts stand: `sbatch` starts a job on this machine or refuses it."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from processes import alive, wait_for
from tiny import ROOT, STAGES, Tiny, stage, until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
# It notes its job, and ends when ran/on is there.
SLOW = stage("slow", "echo $SLURM_JOB_ID >> ran/slow", until("ran/on"), deps=["a"])
# A job has a session of its own, and the number of its first process.
SBATCH = """#!/bin/sh
here=$(dirname "$0")
if [ -e "$here/refusing" ]; then touch "$here/refused"; echo "sbatch: error: not available" >&2; exit 1; fi
script=$(mktemp "$here/XXXXXX") && cp "$1" "$script"
setsid sh -c 'SLURM_JOB_ID=$$ exec bash "$0"' "$script" > /dev/null 2>&1 &
echo $! >> "$here/jobs"
echo "Submitted batch job $!"
"""
SCANCEL = "#!/bin/sh\nkill -- -$1\n"


@pytest.fixture
def slurm(tmp_path):
    """The folder of the scripts, first on PATH; jobs find Dask's scheduler on loopback."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, script in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return folder


@contextmanager
def repro(tiny, slurm):
    job = ("cores=1", "memory=500MB", "walltime=00:10:00")
    options = [f"--slurm-option={option}" for option in job]
    command = [sys.executable, "-m", "dvc_parallel", "repro", "--slurm", "2", *options]
    own = {"PATH": f"{slurm}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    own |= {"DASK_JOBQUEUE__SLURM__INTERFACE": "lo"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=tiny.path, env=os.environ | own, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def jobs(slurm):
    """Those that run."""
    submitted = map(int, (slurm / "jobs").read_text().split())
    return [job for job in submitted if alive(job)]


def test_the_stage_of_a_cancelled_job_is_finished_by_another_and_the_job_is_replaced(tmp_path, slurm):
    """Even when SLURM refuses the new job at first."""
    tiny = Tiny.new(tmp_path / "tiny", {"a": STAGES["a"], "slow": SLOW})
    other = tiny.copied()
    began = tiny.path / "ran/slow"
    with repro(tiny, slurm) as process:
        wait_for(lambda: began.exists() and began.read_text())
        wait_for(lambda: len(jobs(slurm)) == 2)
        (slurm / "refusing").touch()
        subprocess.run([slurm / "scancel", began.read_text().strip()], check=True)
        wait_for(lambda: len(began.read_text().split()) == 2)
        wait_for((slurm / "refused").exists)
        (slurm / "refusing").unlink()
        wait_for(lambda: len(jobs(slurm)) == 2)
        (tiny.path / "ran/on").touch()
        printed = process.communicate(timeout=600)[0]
    assert process.returncode == 0, printed
    assert "slow: its worker tcp://127.0.0.1:" in printed
    (other.path / "ran/on").touch()
    other.dvc()
    assert tiny.lock() == other.lock()
    wait_for(lambda: not jobs(slurm))


def test_what_slurm_refuses_is_one_line(tmp_path, slurm):
    (slurm / "refusing").touch()
    with repro(Tiny.new(tmp_path / "tiny"), slurm) as process:
        printed = process.communicate(timeout=600)[0]
    assert process.returncode == 2
    assert printed.splitlines()[-1].startswith("error: --slurm: sbatch refused the job: sbatch: error: ")
