"""The most memory that a function takes, measured in a process of its own."""

import os
import pickle
import subprocess
import sys

from vanishing_variance.core.parallel import single_threaded

MEASURED = """
import importlib, pickle, sys
from pathlib import Path

stage, job = pickle.load(sys.stdin.buffer)
importlib.import_module(f"stages.{stage}")
pickle.loads(job)()
print(next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM")) * 1024)
"""


def peak(stage, job):
    """Bytes that a process of a stage has taken at most by the end of `job()`, which can be pickled; Linux only."""
    given, paths = pickle.dumps((stage, pickle.dumps(job))), os.pathsep.join(sys.path)
    command, environment = [sys.executable, "-c", MEASURED], {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, input=given, env=environment, stdout=subprocess.PIPE, check=True)
    return int(done.stdout.splitlines()[-1])


def single(job):
    """A job as it is done in a process for jobs."""
    single_threaded()
    job()
