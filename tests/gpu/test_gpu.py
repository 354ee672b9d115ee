import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

WORK = Path(__file__).parent / "work.py"
# How far another device may be, on average over an array: trained weights after 60 steps of 0.001 at most, fractions of
# correct answers, and relative to the largest number everything else.
WEIGHTS, FRACTIONS, OTHERS = 2e-4, 0.01, 1e-4


def results(path, environment):
    """Run the work; return its results by name."""
    subprocess.run([sys.executable, WORK, path], env={**environment, "PYTHON_CPU_COUNT": "1"}, check=True)
    with np.load(path) as arrays:
        return dict(arrays)


@pytest.mark.trains
def test_a_gpu_has_the_results_of_the_cpu_but_for_rounding(with_gpus, tmp_path):
    """Trainings of both tasks, evaluations and interventions; again and resumed, trainings are equal bit for bit."""
    look = "import torch; raise SystemExit(not torch.cuda.is_available())"
    if subprocess.run([sys.executable, "-c", look], env=with_gpus, check=False).returncode:
        pytest.skip("torch.cuda.is_available() is False, so no GPU is compared with the CPU")
    of_cpu, of_gpu = results(tmp_path / "cpu.npz", os.environ), results(tmp_path / "gpu.npz", with_gpus)
    assert of_cpu.keys() == of_gpu.keys()
    for name, expected in of_cpu.items():
        what, part = name.split("/")
        if part.endswith("key.bias"):  # softmax does not notice it: its gradient is rounding, of which Adam makes steps
            continue
        distance = np.abs(of_gpu[name] - expected).mean()
        if what.startswith("fractions"):
            assert distance < FRACTIONS, name
        elif what.startswith("train") and part != "losses":
            assert distance < WEIGHTS, name
        else:
            assert distance < OTHERS * np.abs(expected).max(), name
