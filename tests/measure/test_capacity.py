from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from small import SHARP, clear, in_parts, make_trained, plainly

from vanishing_variance.engine.streams import stream
from vanishing_variance.measure.interventions import as_std as capacity
from vanishing_variance.measure.interventions.as_std import compare, folded
from vanishing_variance.measure.proposition.measurement import Trained


def unfolded(weights):
    """Weights of `std` models without gamma and beta: other functions."""
    return {name: array for name, array in weights.items() if not name.startswith("norm.")}


@pytest.mark.parametrize(("fold", "output_projection"), [(folded, True), (folded, False), (unfolded, True)])
def test_answers_and_logits_of_ln_are_compared_with_those_of_std(task_name, fold, output_projection, monkeypatch):
    monkeypatch.setattr(capacity, "folded", fold)
    ln = make_trained(task_name, "ln", SHARP[task_name], output_projection=output_projection)
    double = {name: array.astype(np.float64) for name, array in ln.weights.items()}
    std = Trained(replace(ln.variant, norm_name="std"), fold(double))
    drawn = ln.variant.task.sample(stream(0, "here"), 60, 12)
    classes = [np.stack([plainly(of, drawn, place)["classes"] for place in (0, 1)]) for of in (ln, std)]
    sure = np.all([clear(of) for of in classes], axis=(0, 1))
    drawn = {name: array[sure] for name, array in drawn.items()}
    of_ln, of_std = (of[:, sure] for of in classes)
    found = compare(ln.variant, ln.weights, {12: partial(in_parts, drawn)})
    assert found["answers"] == 2 * sure.sum()
    assert found["differ"] == (of_ln.argmax(-1) != of_std.argmax(-1)).mean()
    assert found["logits_deviation"] == pytest.approx(of_ln.var(axis=-1).mean() ** 0.5, rel=1e-3)
    largest = abs(of_ln - of_std).max()
    assert found["logits_differ"] == pytest.approx(largest, abs=1e-3 * found["logits_deviation"])
    assert (largest < 1e-10) == (found["differ"] == 0) == (fold is folded)
