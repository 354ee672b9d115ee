import math

import pytest
from made_up_results import explained, shares

from vanishing_variance.report.cells import Cell, grouped, shaded
from vanishing_variance.study import attribution_table, shares_table
from vanishing_variance.study.quantities import QUANTITIES


@pytest.mark.parametrize(("difference", "side"), [(5.0, "above"), (-5.0, "below")])
def test_the_shade_is_of_the_sign_and_in_proportion(difference, side):
    assert shaded(difference, 20.0) == Cell(f"{difference:+.1f}".replace("-", "−"), side, 0.25)
    assert shaded(4 * difference, 20.0).share == 1.0


def test_no_difference_and_no_number_are_not_shaded():
    assert shaded(0.0, 20.0) == Cell("0.0")
    assert shaded(math.nan, 20.0) == Cell("–")
    assert shaded(math.nan, math.nan) == Cell("–")


def texts(table):
    return {heading: {name: [cell.text for cell in cells] for name, cells in rows} for heading, rows in table.groups}


def test_what_explains_the_accuracy_has_a_row_a_quantity_a_column_a_grouping():
    table = grouped("one", "Title", "Note", attribution_table.groups(explained()))
    assert list(table.head) == ["between seeds", "between models", "across lengths", "between models, beyond target"]
    shown = texts(table)
    assert list(shown) == [
        "argmax, trained on the short range (none, ln)",
        "dictionary, trained on the long range (none, ln)",
    ]
    first = shown["argmax, trained on the short range (none, ln)"]
    assert list(first) == [title for title, _ in QUANTITIES.values()]
    assert first["attention on the target item"] == ["50 [40, 60]", "88 [40, 60]", "50 [40, 60]", "–"]
    assert first["entropy of attention (nats)"] == ["50 [40, 60]", "50", "50 [40, 60]", "25 [20, 30]"]


def test_a_group_that_lacks_a_column_has_dashes_there():
    table = grouped("one", "Title", "Note", shares_table.groups(shares()))
    assert list(table.head) == ["none", "ln", "std"]
    shown = texts(table)
    assert list(shown) == ["argmax, trained on the short range", "dictionary, trained on the long range"]
    half, damage = ["50 [40, 60]", "50 [40, 60]", "–"], "damage: training sequences, global moments of the long length"
    assert shown["argmax, trained on the short range"] == {
        "fall (points)": ["20.0 [19.0, 21.0]"] * 3,
        "recovered: target weight restored": half,
        f"{damage}, before the normaliser": half,
        f"{damage}, after the normaliser": half,
    }
    long = shown["dictionary, trained on the long range"]
    assert long["fall (points)"] == ["20.0 [19.0, 21.0]", "20.0 [19.0, 21.0]", "–"]
