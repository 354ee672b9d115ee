import math

import pytest

from vanishing_variance.report.cells import Cell, numbers, shaded


@pytest.mark.parametrize(("difference", "side"), [(5.0, "above"), (-5.0, "below")])
def test_the_shade_is_of_the_sign_and_in_proportion(difference, side):
    assert shaded(difference, 20.0) == Cell(f"{difference:+.1f}".replace("-", "−"), side, 0.25)
    assert shaded(4 * difference, 20.0).share == 1.0


def test_no_difference_and_no_number_are_not_shaded():
    assert shaded(0.0, 20.0) == Cell("0.0")
    assert shaded(math.nan, 20.0) == Cell("–")
    assert shaded(math.nan, math.nan) == Cell("–")


def test_missing_numbers_are_dashes():
    assert numbers([1.25, math.nan, None], ".1f") == [Cell("1.2"), Cell("–"), Cell("–")]
