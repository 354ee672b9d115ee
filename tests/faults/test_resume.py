"""A training of two processes that is killed again and again, and goes on from its checkpoints."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from processes import wait_for

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow

KILLS = 20
# The stage's script, but with checkpoints that are a twentieth of a second apart, and a line for each resumption.
SCRIPT = """
import stages
from vanishing_variance.training import checkpoints
from vanishing_variance.core import parallel
from vanishing_variance.core.stage import run
from stages.train import main

checkpoints.SECONDS_BETWEEN = 0.05
parallel.cores = lambda: 2
load = checkpoints.load

def noted(path, like):
    found = load(path, like)
    with open("resumed", "a") as file:
        print(0 if found is None else found[1], file=file)
    return found

checkpoints.load = noted
if __name__ == "__main__":
    run(main)
"""
OUTPUTS = ("runs/trained/ln/long/dictionary-0/weights.safetensors", "runs/trained/ln/long/dictionary-0/losses.parquet")


def start(folder):
    folder.mkdir(exist_ok=True)
    params = yaml.safe_load((ROOT / "tests/smoke.yaml").read_text())
    params["tasks"]["dictionary"]["steps"]["short"] = 4000
    params["training"]["seeds_per_process"] = 1
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    (folder / "train.py").write_text(SCRIPT)
    arguments = ["--task", "dictionary", "--range", "long", "--norm", "ln", "--block", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "train.py", *arguments],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_killed_again_and_again_it_ends_with_the_same_bits(tmp_path, tally):
    whole = start(tmp_path / "whole")
    assert whole.communicate()[1].count("\n") <= 10
    moments, kills, folder = random.Random(0), 0, tmp_path / "killed"
    training = start(folder)
    for number in range(KILLS):
        begun, saved = resumed(folder), checkpoints(folder)
        wait_for(lambda ran=training, begun=begun: ran.poll() is not None or len(resumed(folder)) > len(begun), 300)
        if number % 2:  # or the next would find what this one found, on a slow machine
            wait_for(lambda ran=training, saved=saved: ran.poll() is not None or checkpoints(folder) != saved, 300)
        time.sleep(moments.uniform(0, 0.6))
        if training.poll() is None:
            os.killpg(training.pid, signal.SIGKILL)
            kills += 1
        training.communicate()
        training = start(folder)
    training.communicate()
    assert (whole.returncode, training.returncode) == (0, 0)
    same = all((tmp_path / "whole" / name).read_bytes() == (folder / name).read_bytes() for name in OUTPUTS)
    tally("kill -9 of a training in mid-course", kills, kills if same else 0)
    assert same
    assert kills > KILLS / 2, "it had ended before: make it longer"
    assert len(set(resumed(folder))) > kills / 4, "it went on from where it was"


def resumed(folder):
    """The numbers of steps that the processes found made."""
    file = folder / "resumed"
    return [int(step) for step in file.read_text().split()] if file.exists() else []


def checkpoints(folder):
    """When each checkpoint was written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("runs/checkpoints/**/*.safetensors")}
