from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from small import SHARP, Trained, clear, in_parts, make_trained, plainly, rows_of, sample

from vanishing_variance.measure.interventions import as_std
from vanishing_variance.measure.interventions.as_std import compare, folded


def unfolded(weights):
    """Return weights of `std` models without gamma and beta: other functions."""
    return {name: array for name, array in weights.items() if not name.startswith("norm.")}


@pytest.mark.parametrize(("fold", "output_projection"), [(folded, True), (folded, False), (unfolded, True)])
def test_answers_and_logits_of_ln_are_compared_with_those_of_std(task_name, fold, output_projection, monkeypatch):
    monkeypatch.setattr(as_std, "folded", fold)
    ln = make_trained(task_name, "ln", SHARP[task_name], output_projection=output_projection)
    double = {name: array.astype(np.float64) for name, array in ln.weights.items()}
    std = Trained(replace(ln.variant, norm_name="std"), fold(double))
    drawn = sample(ln, 60, 12)
    of_ln, of_std = (plainly(models, drawn)["classes"] for models in (ln, std))
    sure = (clear(of_ln) & clear(of_std)).all(axis=0)
    of_ln, of_std = of_ln[:, sure], of_std[:, sure]
    read = partial(in_parts, rows_of(drawn, sure))
    found = compare(ln.variant, ln.weights, {12: read})
    assert found["answers"] == 2 * sure.sum()
    assert found["differ"] == (of_ln.argmax(-1) != of_std.argmax(-1)).mean()
    assert found["logits_deviation"] == pytest.approx(of_ln.var(axis=-1).mean() ** 0.5, rel=1e-3)
    largest = abs(of_ln - of_std).max()
    assert found["logits_differ"] == pytest.approx(largest, abs=1e-3 * found["logits_deviation"])
    assert (largest < 1e-10) == (fold is folded)
