"""The tables of the page: ours, the paper's, and how far apart they are."""

import math

import pytest
from made_up_results import STEPS, comparisons, numbers

from vanishing_variance.report.cells import Cell, shaded
from vanishing_variance.report.tables import tables


def rows(table, heading):
    """The texts of the rows below one heading, by name."""
    return {name: [cell.text for cell in cells] for name, cells in dict(table.groups)[heading]}


@pytest.mark.parametrize(
    ("difference", "cell"),
    [
        (5.0, Cell("+5.0", "above", 0.25)),
        (-20.0, Cell("−20.0", "below", 1.0)),
        (0.0, Cell("0.0")),
        (math.nan, Cell("–")),
    ],
)
def test_the_shade_is_of_the_sign_and_in_proportion(difference, cell):
    assert shaded(difference, 20.0) == cell


def test_table_1_has_ours_the_papers_and_how_far_apart_they_are():
    [table] = [one for one in tables(numbers(), "ln", STEPS) if one.anchor == "table1"]
    assert rows(table, "plain softmax") == {
        "none": ["50.0", "49.9", "49.8"],
        "+ ln": ["50.0", "50.1", "50.2"],
        "difference (pp)": ["0.00", "+1.00", "+2.00"],
        "95% interval": ["−1.5, +1.5", "−0.5, +2.5", "+0.5, +3.5"],
        "d_z": ["0.00", "+0.25", "+0.50"],
        "p": ["0", "0.001", "0.002"],
        "p, Holm": ["0", "0.01", "0.02"],
        "paper: none": ["90.0", "–", "49.8"],
        "paper: + ln": ["40.0", "–", "–"],
        "paper: p": ["–", "–", "0.003"],
        "ours − paper: none": ["−40.0", "–", "0.0"],
        "ours − paper: + ln": ["+10.0", "–", "–"],
    }
    assert rows(table.folded, "plain softmax") == {
        "p, Wilcoxon": ["0", "0.02", "0.04"],
        "seeds for 90% power": ["1000", "1001", "1002"],
    }
    fitted = dict(table.groups)["adaptive temperature, fitted to our models with labels at these lengths"]
    assert [cell.text for cell in dict(fitted)["difference (pp)"]] == ["+6.00", "+7.00", "+8.00"]
    assert "n = 2 seeds" in table.note


def test_a_range_that_was_not_tested_has_no_table():
    shown = tables(numbers(tests=comparisons(ranges=["long"])), "ln", STEPS)
    assert [table.anchor for table in shown] == ["table4", "table5"]
