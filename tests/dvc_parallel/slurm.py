"""A real SLURM of one node on this machine, from Debian's packages; all that it writes is in one folder."""

import os
import shutil
import socket
import subprocess
from contextlib import ExitStack, contextmanager

import pytest
from processes import wait_for

PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client", "munged": "munge"}
CONFIGURATION = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def one_node(folder):
    """Start the daemons, and stop them; gives the environment in which SLURM's commands find them."""
    install()
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    configuration = folder / "slurm.conf"
    host = socket.gethostname().partition(".")[0]
    configuration.write_text(CONFIGURATION.format(host=host, ports=free_ports(), folder=folder))
    environment = os.environ | {"SLURM_CONF": str(configuration)}
    files = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "log", "pid", "seed")]
    munged = ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *files]
    with ExitStack() as started, (folder / "log").open("w") as log:
        for command in (munged, ["slurmctld", "-D"], ["slurmd", "-D", "-N", host]):
            daemon = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            started.callback(daemon.wait)
            started.callback(daemon.terminate)
            if command is munged:
                wait_for((folder / "munge.socket").exists)
        started.callback(said, "scancel", "--user=root", environment=environment)
        wait_for(lambda: said("sinfo", "--noheader", "--format=%T", environment=environment) == "idle\n")
        yield environment


def said(*command, environment):
    return subprocess.run(command, env=environment, check=False, capture_output=True, text=True).stdout


def install():
    if os.geteuid() != 0:
        pytest.skip("starting a SLURM needs root")
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if missing:
        packages = " ".join(missing)
        script = (
            f"apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends {packages}"
        )
        if subprocess.run(["sh", "-c", script], check=False).returncode:
            pytest.skip(f"Debian's packages are not to be had: {packages}")


def free_ports():
    with socket.create_server(("", 0)) as one, socket.create_server(("", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]
