import sys
from dataclasses import replace
from functools import partial

import pytest
from peaks import peak, single
from small import make_model, make_plan

from vanishing_variance.core.memory import PROCESS, total
from vanishing_variance.core.ranges import Range
from vanishing_variance.training.ensemble import _train_chunk
from vanishing_variance.training.memory import memory_needed

SEEDS = [0, 1, 2, 3]
ALIKE = {"norm": "ln", "steps": 2}


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read on Linux")
@pytest.mark.parametrize(
    ("task", "width", "batch", "lengths", "gelu"),
    [
        ("argmax", 64, 128, (256, 256), "exact"),
        ("dictionary", 128, 128, (200, 200), "exact"),
    ],
)
def test_what_is_reckoned_bounds_what_is_measured_and_is_not_much_more(task, width, batch, lengths, gelu, tmp_path):
    plan = make_plan(task, batch_size=batch, model=make_model(width=width, gelu=gelu), **ALIKE)
    plan = replace(plan, lengths=Range(shortest=lengths[0], longest=lengths[1]))
    job = partial(_train_chunk, plan, SEEDS, tmp_path / "checkpoint.safetensors", int)
    measured = peak("train", partial(single, job))
    need = memory_needed(plan, SEEDS)
    assert 1 <= (PROCESS + total(need.data) + total(need.tensors)) / measured <= 1.6
