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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read on Linux")
def test_what_is_reckoned_bounds_what_is_measured_and_is_not_much_more(tmp_path):
    plan = make_plan("dictionary", batch_size=128, steps=2, model=make_model(width=128))
    plan = replace(plan, lengths=Range(shortest=200, longest=200))
    job = partial(_train_chunk, plan, [0, 1, 2, 3], tmp_path / "checkpoint.safetensors", int)
    measured = peak("train", partial(single, job))
    need = memory_needed(plan, [0, 1, 2, 3])
    assert 1 <= (PROCESS + total(need.data) + total(need.tensors)) / measured <= 1.6
