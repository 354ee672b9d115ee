import numpy as np
import pandas as pd
import pytest
import torch
from made_up_board import accuracies
from small import make_model, make_plan

from vanishing_variance.core.seeding import stream
from vanishing_variance.leaderboard.ceiling import COLUMNS, DRAWS, LENGTHS, ceiling, class_offsets, markdown, predicted
from vanishing_variance.model.initialisation import draw

EXPONENTIALS = stream(0, "x").exponential(size=(DRAWS, 10))


def weights_of(plan, seeds=(0, 1)):
    drawn = draw(plan.variant.initial(plan.task_training), 0, plan.variant.task_name, seeds)
    return {name: tensor.numpy().copy() for name, tensor in drawn.items()}


def test_offsets_are_those_that_a_network_was_given():
    """With features going straight into W_K, the logit is q (slope p + a number of the class), whatever q is."""
    plan = make_plan("argmax", "none", model=make_model(projection="direct"))
    weights, given = weights_of(plan), np.linspace(-1e-4, 2e-4, 10)
    query, key = weights["attention.query"], weights["attention.key"]
    for seed in (0, 1):
        key[seed] = 0
        key[seed, :, 0] = (seed + 1) * query[seed, :, 0]
        key[seed, :, 1:] = np.outer(key[seed, :, 0], given * (1 if seed == 0 else -3))
    found = class_offsets(plan.variant, weights)
    centred = given - given.mean()
    np.testing.assert_allclose(found, [centred, -3 * centred], rtol=1e-4, atol=1e-9)


def test_the_prediction_is_the_accuracy_of_the_largest_shifted_priority():
    rng, offsets, items, drawn = np.random.default_rng(0), np.linspace(0, 0.004, 10)[None], 512, 4000
    priority, classes = rng.random((drawn, items)), rng.integers(10, size=(drawn, items))
    shifted = (priority + offsets[0][classes]).argmax(axis=1)
    rows = np.arange(drawn)
    measured = (classes[rows, shifted] == classes[rows, priority.argmax(axis=1)]).mean()
    assert 0.3 < measured < 0.8
    # both are means of yes and no: three standard errors; 1 / 51 of a class's items is left out by the limit
    assert predicted(offsets, items, EXPONENTIALS)[0] == pytest.approx(measured, abs=3 * 0.5 / drawn**0.5 + 0.02)


def test_without_offsets_hard_attention_is_always_right_and_its_ceiling_falls_with_length():
    assert predicted(np.zeros((1, 10)), 2**14, EXPONENTIALS).tolist() == [1.0]
    offsets = np.linspace(0, 1e-4, 10)[None]
    falling = [predicted(offsets, items, EXPONENTIALS)[0] for items in (2**8, 2**11, 2**14, 2**17)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0.98
    assert falling[-1] < 0.5


def test_a_row_a_line_seed_and_length_beside_what_was_measured():
    accuracy = pd.concat([accuracies(line, (1, 1, 1, mean), "hard") for line, mean in (("a", 0.9), ("b", 0.5))])
    offsets = {"a": np.zeros((6, 10)), "b": np.tile(np.linspace(0, 1e-4, 10), (6, 1))}
    found = ceiling(offsets, accuracy, stream(0, "x"))
    assert set(found["length"]) == {16384} <= set(LENGTHS)  # 2^11 was not tested
    assert (found.query("line == 'a'")["predicted"] == 1).all()
    measured = accuracy.query("line == 'b' and length == 16384").sort_values("seed")["accuracy"]
    assert found.query("line == 'b'")["hard"].tolist() == measured.tolist()
    rows = [line for line in markdown(found).splitlines() if line.startswith("| a") or line.startswith("| b")]
    assert rows[0].startswith("| a | 6 | 0.0e+00 | 100.0 | ")
    assert rows[1].startswith("| b | 6 | 3.2e-05 | ")
    alone = ceiling({"b": offsets["b"]}, accuracy, stream(0, "x"))
    pd.testing.assert_frame_equal(alone, found.query("line == 'b'").reset_index(drop=True))


def test_a_leaderboard_whose_every_line_diverged_has_an_empty_table():
    found = ceiling({}, accuracies("a", (1, 1, 1, 1), "hard").iloc[:0], stream(0, "x"))
    assert tuple(found.columns) == COLUMNS
    assert len(found) == 0
    assert not [line for line in markdown(found).splitlines() if line.startswith("| a")]


@pytest.mark.parametrize("projection", ["mlp", "qk_norm"])
@pytest.mark.parametrize("attention", ["softmax", "entmax15", "differential"])
def test_every_map_and_projection_has_offsets(attention, projection):
    if attention == "differential" and projection == "qk_norm":
        return  # refused
    plan = make_plan("argmax", "none", model=make_model(projection=projection))
    variant = type(plan.variant)(**{**vars(plan.variant), "attention_name": attention})
    drawn = draw(variant.initial(plan.task_training), 0, "argmax", (0, 1))
    found = class_offsets(variant, {name: tensor.numpy() for name, tensor in drawn.items()})
    assert found.shape == (2, 10)
    assert torch.from_numpy(found).isfinite().all()
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-9)
