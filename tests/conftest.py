import pytest
import torch

from vanishing_variance import registry, tasks
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.experiment import Model, Training
from vanishing_variance.params.ranges import Range
from vanishing_variance.training import Plan

torch.set_num_threads(1)

DATA = {"argmax": {"classes": 10}, "dictionary": {"key_classes": 256, "value_classes": 8}}
SCHEDULES = {"argmax": {}, "dictionary": {"embedding_width": 16, "embedding_std": 0.25}}


def make_model(**changes):
    settings = {"width": 32, "epsilon": 1e-5, "gelu": "exact", "initialisation": "torch", "attention_biases": False}
    return Model(**settings | changes)


def make_plan(task="argmax", norm="ln", steps=20, model=None, **optimiser):
    """A small training of one variant."""
    module = registry.load(tasks, task)
    settings = {"batch_size": 32, "learning_rate": 1e-2, "weight_decay": 0.0, "seeds_per_process": 4} | optimiser
    return Plan(
        name=f"{task}-short-{norm}-0",
        root=0,
        range_name="short",
        lengths=Range(shortest=3, longest=9),
        variant=Variant(task, norm, module.TASK(**DATA[task]), model or make_model()),
        optimiser=Training(**settings),
        schedule=module.TRAINING(steps=steps, **SCHEDULES[task]),
    )


@pytest.fixture(params=["argmax", "dictionary"])
def task_name(request):
    return request.param


@pytest.fixture(params=["none", "std", "ln", "rms"])
def norm_name(request):
    return request.param
