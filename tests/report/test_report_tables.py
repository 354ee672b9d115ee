"""The tables of the page: ours, the paper's, and how far apart they are."""

import math

import numpy as np
import pytest
from made_up_results import STEPS, comparisons, numbers

from vanishing_variance.report.cells import Cell, grouped, shaded
from vanishing_variance.report.tables import tables


def made(norm="ln", **changes):
    """Tables 1 to 6 by their anchor."""
    return {of.anchor: of for of in tables(numbers(norm, tests=comparisons(norm).assign(**changes)), norm, STEPS)}


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
    table = made()["table1"]
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


def test_all_tables_share_the_scale_of_their_shades():
    shown = made()
    cells = dict(dict(shown["table1"].groups)["plain softmax"])
    assert cells["ours − paper: + ln"][0] == Cell("+10.0", "above", 0.25)
    gains = dict(dict(shown["table3"].groups)["gain over none"])
    assert gains["ours − paper: gain of std"][0] == Cell("+2.0", "above", 0.05)
    assert {anchor: table.scale for anchor, table in shown.items() if table.scale} == {"table1": 40.0, "table3": 40.0}
    assert {table.scale for table in tables(numbers(cells=[]), "ln", STEPS)} == {0.0}


def test_tables_3_and_6_compare_ln_with_std_and_show_every_gain():
    table = made("rms")["table6"]
    frame = comparisons("rms").query("task == 'dictionary' and range == 'short' and temperature == 'plain'")
    for heading, name, treatment, baseline in (
        ("gain over none", "gain of rms", "rms", "none"),
        ("gain over none", "gain of std", "std", "none"),
        ("ln against std", "difference (pp)", "ln", "std"),
    ):
        of = frame[(frame["treatment"] == treatment) & (frame["baseline"] == baseline)]
        assert rows(table, heading)[name] == [f"{value:+.2f}" for value in of["difference"]]
    assert rows(table, "ln against std")["paper: p"] == ["0.9", "–", "–"]


def test_a_p_that_is_missing_is_a_dash_and_the_note_says_why():
    table = made(p=np.nan, p_holm=np.nan, low=np.nan, high=np.nan, note="one seed: no test")["table1"]
    shown = rows(table, "plain softmax")
    assert shown["p"] == shown["p, Holm"] == shown["95% interval"] == ["–"] * 3
    assert "plain, length 16: one seed: no test" in table.note


def test_a_range_that_was_not_tested_has_no_table():
    shown = tables(numbers(tests=comparisons(ranges=["long"])), "ln", STEPS)
    assert [table.anchor for table in shown] == ["table4", "table5"]


def test_a_group_that_lacks_a_column_has_dashes_there():
    table = grouped("one", "", "", [("all", ["a", "b"], [["row", ["1", "2"]]]), ("some", ["b"], [["row", ["3"]]])])
    assert list(table.head) == ["a", "b"]
    assert (rows(table, "all"), rows(table, "some")) == ({"row": ["1", "2"]}, {"row": ["–", "3"]})
