import os
from pathlib import Path

# Tests compute on the CPU, in the processes that they start, too, but for the one of the GPU.
WITH_GPUS = dict(os.environ)
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["MPLBACKEND"] = "agg"

import jaxtyping
import pytest
import torch

SOURCES = Path(__file__).resolve().parents[1] / "src"


def _with_shapes():
    """The names of all modules whose annotations have shapes: the tests check these."""
    for path in sorted(SOURCES.glob("vanishing_variance/**/*.py")):
        if "from jaxtyping import" in path.read_text(encoding="utf-8"):
            yield ".".join(path.relative_to(SOURCES).with_suffix("").parts)


# An int is a float, as for mypy.
CHECK = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
jaxtyping.install_import_hook([*_with_shapes()], CHECK)

from vanishing_variance.engine import loop, steps
from vanishing_variance.harness import parallel
from vanishing_variance.plain import training as plain_training

torch.set_num_threads(1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let a test train only where it is marked `trains`: these are repeated under several perturbations."""
    original = steps.learning_rates
    if "trains" not in item.keywords:
        steps.learning_rates = plain_training.learning_rates = _unmarked
    try:
        return (yield)
    finally:
        steps.learning_rates = plain_training.learning_rates = original


def _unmarked(*_):
    pytest.fail("it trains: mark it `trains`, and let nothing in it depend on what the training leads to")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """Start no processes, where a test does not say otherwise."""
    monkeypatch.setattr(parallel, "cores", lambda: 1)


@pytest.fixture
def record_every_five_steps(monkeypatch):
    monkeypatch.setattr(loop, "STEPS_PER_RECORD", 5)


@pytest.fixture
def with_gpus():
    """The environment in which a process has the GPUs that these tests do without."""
    return WITH_GPUS


@pytest.fixture(params=["argmax", "dictionary"])
def task_name(request):
    return request.param


@pytest.fixture(params=["none", "std", "ln", "rms", "centred_rms", "centred"])
def norm_name(request):
    return request.param
