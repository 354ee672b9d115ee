"""The most memory that a function takes, measured in a process of its own; and functions to be measured."""

import os
import pickle
import subprocess
import sys

import numpy as np

from vanishing_variance.core.arrays import write_arrays

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
    done = subprocess.run(
        [sys.executable, "-c", MEASURED],
        input=pickle.dumps((stage, pickle.dumps(job))),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(done.stdout.splitlines()[-1])


def read(task, sequences, length, size):
    """The test sequences of a length, a part at a time, as from a file."""
    for first in range(0, sequences, size):
        yield task.sample(np.random.default_rng(first), min(size, sequences - first), length)


def generated(path, task, length, sequences):
    """Draw sequences and write them."""
    write_arrays(path, task.sample(np.random.default_rng(0), sequences, length))


def single(job):
    """A job as it is done in a process for jobs."""
    from vanishing_variance.core.parallel import single_threaded

    single_threaded()
    job()
