"""The loss at the training lengths: the fast engine's, the plain engine's and numpy's agree."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from small import make_plan, make_trained, of_plain_engine, plainly

from vanishing_variance.measure import training_loss
from vanishing_variance.measure.plain_models.answers import plain_losses
from vanishing_variance.plain.plan import PlainPlan


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(training_loss, "SEQUENCES", 300)


def test_it_is_the_mean_over_lengths_of_the_cross_entropy(task_name):
    trained = make_trained(task_name, "ln", 2)
    plan = replace(make_plan(task_name, "ln"), variant=trained.variant)
    other = {name: array[::-1].copy() for name, array in trained.weights.items()}
    found = training_loss.training_losses(plan, [4, 9], {"last": trained.weights, "averaged": other})

    by_length = []
    for sequences in training_loss.fresh_sequences(plan).values():
        labels = torch.from_numpy(sequences.pop("label"))
        logits = torch.from_numpy(plainly(trained, sequences)["classes"])
        of_labels = logits.log_softmax(-1).gather(2, labels.expand(2, -1).unsqueeze(-1))
        by_length.append(-of_labels.double().mean((1, 2)).numpy())
    assert len(by_length) == 7
    expected = np.mean(by_length, axis=0)
    assert found["rule"].tolist() == ["last", "last", "averaged", "averaged"]
    assert found["seed"].tolist() == [4, 9, 4, 9]
    np.testing.assert_allclose(found["loss"], [*expected, *expected[::-1]], rtol=1e-4)

    plain = plain_losses(PlainPlan.of_paper(plan), [4, 9], {"last": of_plain_engine(trained)})
    pd.testing.assert_frame_equal(plain, found[:2], rtol=1e-4)


def test_sequences_are_the_same_for_every_variant_and_as_many_of_each_length(task_name):
    first = training_loss.fresh_sequences(make_plan(task_name, "ln"))
    again = training_loss.fresh_sequences(make_plan(task_name, "none", steps=7))
    for ours, theirs in zip(first.values(), again.values(), strict=True):
        assert len(ours["label"]) == 43
        for name, array in ours.items():
            np.testing.assert_array_equal(array, theirs[name])
