"""The most memory that a function takes, measured in a process of its own."""

import pickle
import subprocess
import sys

MEASURED = """
import pickle, sys
from pathlib import Path

job = pickle.load(sys.stdin.buffer)
from vanishing_variance.parallel import single_threaded
single_threaded()
job()
print(next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM")) * 1024)
"""


def peak(job):
    """Bytes that a process has taken at most by the end of `job()`, which can be pickled; Linux only."""
    done = subprocess.run([sys.executable, "-c", MEASURED], input=pickle.dumps(job), stdout=subprocess.PIPE, check=True)
    return int(done.stdout.splitlines()[-1])
