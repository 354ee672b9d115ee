from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from small import in_arrays

from vanishing_variance.capacity import comparison as capacity
from vanishing_variance.capacity.comparison import compare, folded
from vanishing_variance.core.seeding import stream


def reads(task, lengths):
    def read(drawn, size):
        for first in range(0, 40, size):
            yield {name: array[first : first + size] for name, array in drawn.items()}

    return {length: partial(read, task.sample(stream(0, "here", length), 40, length)) for length in lengths}


def changed(weights):
    """As if training had moved gamma and beta far from 1 and 0."""
    generator = torch.Generator().manual_seed(0)
    moved = {
        name: tensor + torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype)
        for name, tensor in weights.items()
        if name.startswith("norm.")
    }
    return in_arrays(weights | moved, torch.float32)


def test_a_folded_model_gives_the_same_answers(briefly_trained):
    plan, weights = briefly_trained
    found = compare(plan.variant, changed(weights), reads(plan.variant.task, [4, 30]))
    assert found["answers"] == 2 * 40 * 2
    assert found["differ"] == 0
    assert 0 < found["logits_differ"] < 1e-3 * found["logits_deviation"]


def test_models_that_differ_are_told_apart(briefly_trained, monkeypatch):
    plan, weights = briefly_trained
    arrays = changed(weights)
    monkeypatch.setattr(
        capacity, "folded", lambda of: {name: array for name, array in of.items() if not name.startswith("norm.")}
    )
    found = compare(plan.variant, arrays, reads(plan.variant.task, [30]))
    assert found["differ"] > 0.05
    assert found["logits_differ"] > 0.1


@pytest.mark.parametrize("output_projection", [True, False])
def test_folding_is_exact_in_double_precision(briefly_trained, output_projection):
    plan, weights = briefly_trained
    arrays = {name: array.astype(np.float64) for name, array in changed(weights).items()}
    if not output_projection:
        del arrays["attention.output"]
        model = plan.variant.model.model_copy(update={"output_projection": False})
        plan = replace(plan, variant=replace(plan.variant, model=model))
    batch = {name: torch.from_numpy(array)[None] for name, array in next(reads(plan.variant.task, [9])[9](40)).items()}
    batch = {name: tensor.double() if tensor.is_floating_point() else tensor for name, tensor in batch.items()}
    of_ln = plan.variant.network()({name: torch.from_numpy(array) for name, array in arrays.items()}, batch)
    std = {name: torch.from_numpy(array) for name, array in folded(arrays).items()}
    assert not [name for name in std if name.startswith("norm.")]
    of_std = replace(plan.variant, norm_name="std").network()(std, batch)
    torch.testing.assert_close(of_std, of_ln, rtol=0, atol=1e-10)
    assert folded(changed(weights))["head.0.weight"].dtype == np.float32
    assert of_ln.std() > 0.1
