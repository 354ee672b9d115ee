import numpy as np
import pytest
from made_up_results import STEPS, comparisons, numbers

from vanishing_variance.report.cells import Cell
from vanishing_variance.report.tables import tables


def made(norm="ln", cells=None, **changes):
    """Tables 1 to 6 by their anchor."""
    found = numbers(norm, cells, comparisons(norm).assign(**changes))
    return {table.anchor: table for table in tables(found, norm, STEPS)}


def rows(table, heading):
    """name -> texts, below one heading."""
    return {name: [cell.text for cell in cells] for name, cells in dict(table.groups)[heading]}


def test_table_1_has_ours_the_papers_and_how_far_apart_they_are():
    table = made()["table1"]
    assert table.title.startswith("Table 1. argmax, trained on the short range: accuracy (%), none against ln, after")
    assert list(table.head) == ["2<sup>4</sup>", "100", "2<sup>14</sup>"]
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
    assert list(rows(table, "plain softmax"))[-1] == "ours − paper: + ln"
    assert rows(table, "adaptive temperature, fitted to our models with labels at these lengths")[
        "difference (pp)"
    ] == ["+6.00", "+7.00", "+8.00"]
    assert "n = 2 seeds" in table.note
    assert table.corner == table.folded.corner == "length N (items)"


def test_rows_that_few_need_are_folded_below_the_same_lengths():
    table = made()["table1"]
    assert rows(table.folded, "plain softmax") == {
        "p, Wilcoxon": ["0", "0.02", "0.04"],
        "seeds for 90% power": ["1000", "1001", "1002"],
    }
    assert table.folded.head == table.head
    assert [heading for heading, _ in table.folded.groups] == [heading for heading, _ in table.groups]
    table = made()["table3"]
    assert list(rows(table.folded, "ln against std")) == ["p, Wilcoxon", "seeds for 90% power"]
    assert not {"p, Wilcoxon", "seeds for 90% power"} & set(rows(table, "ln against std"))


def test_all_tables_share_the_scale_of_their_shades():
    shown = made()
    last = dict(shown["table1"].groups)["plain softmax"][-2:]
    assert [cells[0] for _, cells in last] == [Cell("−40.0", "below", 1.0), Cell("+10.0", "above", 0.25)]
    name, gains = dict(shown["table3"].groups)["gain over none"][-1]
    assert (name, gains[0]) == ("ours − paper: gain of std", Cell("+2.0", "above", 0.05))
    assert {anchor: table.scale for anchor, table in shown.items() if table.scale} == {"table1": 40.0, "table3": 40.0}


def test_the_paper_stands_only_where_it_has_the_number():
    shown = rows(made("std")["table1"], "plain softmax")
    assert "paper: none" in shown
    assert not {"paper: + std", "paper: p", "paper: + ln"} & set(shown)
    assert "paper" not in " ".join(rows(made()["table2"], "plain softmax"))


def test_tables_3_and_6_compare_ln_with_std_and_show_every_gain():
    shown = made("rms")
    assert list(rows(shown["table6"], "gain over none")) == ["gain of std", "gain of ln", "gain of rms"]
    assert list(rows(made()["table6"], "gain over none")) == ["gain of std", "gain of ln"]
    frame = comparisons("rms").query("task == 'dictionary' and range == 'short' and temperature == 'plain'")
    for heading, name, treatment, baseline in (
        ("gain over none", "gain of rms", "rms", "none"),
        ("gain over none", "gain of std", "std", "none"),
        ("ln against std", "difference (pp)", "ln", "std"),
    ):
        of = frame[(frame["treatment"] == treatment) & (frame["baseline"] == baseline)]
        assert rows(shown["table6"], heading)[name] == [f"{value:+.2f}" for value in of["difference"]]
    assert rows(shown["table6"], "ln against std")["paper: p"] == ["0.9", "–", "–"]


def test_a_p_that_is_missing_is_a_dash_and_the_note_says_why():
    table = made(p=np.nan, p_holm=np.nan, low=np.nan, high=np.nan, note="one seed: no test")["table1"]
    shown = rows(table, "plain softmax")
    assert shown["p"] == shown["p, Holm"] == shown["95% interval"] == ["–"] * 3
    assert "Not computed: plain, length 16: one seed: no test; " in table.note
    assert "Not computed" not in made(note="more than 1,000 seeds needed")["table1"].note


@pytest.mark.parametrize("cells", [[], [(1, "ln_vs_none", "p_value", 16, 0.5)]])
def test_nothing_is_shaded_where_there_is_nothing_to_compare(cells):
    assert {table.scale for table in made(cells=cells).values()} == {0.0}


def test_a_title_says_how_long_its_models_were_trained():
    titles = {anchor: table.title for anchor, table in made().items()}
    assert titles["table1"].endswith("after 80,000 of the paper's 100,000 gradient steps")
    assert titles["table3"].endswith("after 80,000 of the paper's 100,000 gradient steps")
    assert titles["table5"].endswith("after 4,000 of the paper's 10,000 gradient steps")


def test_a_range_that_was_not_tested_has_no_table():
    shown = tables(numbers(tests=comparisons(ranges=["long"])), "ln", STEPS)
    assert [table.anchor for table in shown] == ["table4", "table5"]
