import numpy as np
import pytest
from made_up_results import CELLS, comparisons, made_up, paper

from vanishing_variance.report.curves import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, panels

PARAMS = made_up().params


def points(text):
    return [tuple(map(float, pair.split(","))) for pair in text.split()]


def accuracy(place):
    return 100 * (HEIGHT - BOTTOM - place) / (HEIGHT - TOP - BOTTOM)


def drawn(**changes):
    return panels(comparisons().assign(**changes), paper(CELLS), PARAMS)


def test_curves_are_of_none_and_ln_at_their_accuracies():
    first, second = drawn()
    assert (first.title, second.title) == (
        "argmax: the class of the largest item",
        "dictionary: the value beside a key",
    )
    assert [curve.norm for curve in first.curves] == ["none", "ln"]
    tests = comparisons().query("task == 'argmax' and range == 'short' and temperature == 'plain'")
    for curve, role in zip(first.curves, ("baseline", "treatment"), strict=True):
        means = tests.query("treatment == 'ln' and baseline == 'none'")[f"{role}_mean"]
        assert [accuracy(y) for _, y in points(curve.mean)] == pytest.approx(list(means), abs=0.05)
        assert sorted({accuracy(y) for _, y in points(curve.band)}) == pytest.approx([45, 55], abs=0.05)


def test_lengths_are_on_a_logarithmic_axis_and_every_point_is_in_the_panel():
    first = drawn()[0]
    places = [x for x, _ in points(first.curves[0].mean)]
    assert places[-1] == WIDTH - RIGHT
    assert (places[1] - places[0]) / (places[2] - places[0]) == pytest.approx(np.log2(100 / 16) / 10, abs=0.005)
    assert first.lengths == [(places[0], "2⁴"), (places[1], "100"), (places[2], "2¹⁴")]
    assert LEFT < first.trained < places[0]  # trained on up to 4 items


def test_the_papers_curve_has_the_numbers_that_survive():
    first, second = drawn()
    assert [accuracy(y) for _, y in points(first.curves[0].paper)] == pytest.approx([90.0, 49.8], abs=0.05)
    assert len(points(first.curves[1].paper)) == 1
    assert second.curves[0].paper == ""


def test_one_seed_has_no_band():
    nothing = {f"{role}_{end}": np.nan for role in ("baseline", "treatment") for end in ("low", "high")}
    assert [curve.band for panel in drawn(**nothing) for curve in panel.curves] == [""] * 4


def test_a_range_that_was_not_tested_has_no_panel():
    assert panels(comparisons(ranges=["long"]), paper(CELLS), PARAMS) == []
