import pandas as pd
import pytest
from made_up_tests import PAPER, made_up, of_four_seeds, paired_up, select

from vanishing_variance.results.compare.beside_paper import cells, markdown
from vanishing_variance.statistics.intervals import interval

# So many seeds that every gain is significant.
ACCURACY = made_up(seeds=12, lengths=[2**power for power in range(4, 15)])


@pytest.fixture(scope="module")
def tests():
    return paired_up(ACCURACY)


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_every_cell_that_survives_has_ours_beside_it(tests):
    compared = cells(tests, PAPER)
    assert sorted(compared["paper"]) == sorted(PAPER["value"].dropna())
    values = ACCURACY.query("task == 'dictionary' and range == 'short' and norm == 'ln' and rule == 'adaptive'")
    by_seed = values.query("length == 4096")["accuracy"].to_numpy() * 100
    cell = one(compared, table=2, variant="ln", rule="adaptive", length=4096)
    assert (cell["ours"], cell["low"], cell["high"]) == pytest.approx(interval(by_seed))
    assert (cell["difference"], cell["n"]) == (pytest.approx(cell["ours"] - 44.5), 12)
    tested = one(select(tests, "argmax", "long", "ln", "none"), rule="last", length=64)
    cell = one(compared, table=4, variant="ln_vs_none", length=64)
    assert (cell["ours"], cell["gain"]) == (tested["p"], tested["difference"])
    assert (cell["low"], cell["high"], cell["n"]) == (tested["low"], tested["high"], tested["n"])
    assert pd.isna(cell["difference"])
    gained = one(select(tests, "argmax", "short", "std", "none"), rule="last", length=64)
    cell = one(compared, table=3, variant="std", length=64)
    assert (cell["ours"], cell["low"]) == (gained["difference"], gained["low"])


def test_what_was_not_trained_or_tested_is_left_out():
    compared = cells(of_four_seeds().query("range == 'short'"), PAPER)
    assert set(compared["length"]) == {16, 16384}
    assert set(compared["table"]) == {1, 2, 3, 6}
    other = cells(paired_up(made_up(("none", "ln", "rms")), "rms", ranges=("long",)), PAPER)
    assert set(other.query("table == 4")["variant"]) == {"none"}


def lines(compared):
    """The cells of the table in Markdown, by its rows' names."""
    rows = [line.strip("| ").split("|") for line in markdown(compared).splitlines()]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


def test_agreement_counts_signs_both_ways(tests):
    compared = cells(tests, PAPER)
    paper = PAPER[(PAPER["table"] == 2) & (PAPER["quantity"] == "p_value")]["value"]
    significant = str((paper < 0.01).sum())
    assert lines(compared)["Table 2"][3:] == [significant, significant, "0"]
    assert lines(compared.assign(gain=-compared["gain"]))["Table 2"][3:] == [significant, "0", significant]
    assert lines(compared.assign(ours=0.02))["Table 2"][4:] == ["0", "0"]
    away = compared.query("table == 1")["difference"].dropna()
    expected = [str(len(away)), f"{away.mean():+.1f}", f"{away.abs().mean():.1f}"]
    assert lines(compared)["Table 1"][:3] == expected
