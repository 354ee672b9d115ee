import numpy as np
import pandas as pd
import pytest
from made_up_tests import PAPER, made_up, paired_tests, paired_up
from scipy import stats

from vanishing_variance.engine.streams import stream
from vanishing_variance.results.columns import rows
from vanishing_variance.results.paper import markdown
from vanishing_variance.results.runs import RULES
from vanishing_variance.results.tables import numbers, table_rows
from vanishing_variance.statistics.components import components

ACCURACY = made_up(seeds=6, lengths=(16, 32, 64))


@pytest.fixture(scope="module")
def tests():
    return paired_up(ACCURACY.sample(frac=1, random_state=0))


def test_every_pair_is_tested_by_seed_in_percent(tests):
    pairs = tests[["line", "baseline"]].drop_duplicates().to_numpy().tolist()
    short = [["std", "none"], ["ln", "none"], ["ln", "std"]]
    assert pairs == [*short, *([f"long-{line}" for line in pair] for pair in short)]
    assert len(tests) == 2 * 6 * len(RULES) * 3
    of = rows(tests, task="argmax", line="ln", baseline="none")
    assert of["rule"].tolist() == [name for name in RULES for _ in range(3)]
    assert of["length"].tolist() == [16, 32, 64] * len(RULES)
    last = ACCURACY.query("task == 'argmax' and rule == 'last' and length == 32")
    none, ln = (last[last["line"] == line].sort_values("seed")["accuracy"].to_numpy() * 100 for line in ("none", "ln"))
    row = of.iloc[1]
    assert row["n"] == 6
    assert row["baseline_mean"] == pytest.approx(none.mean())
    assert row["line_mean"] == pytest.approx(ln.mean())
    assert row["difference"] == pytest.approx((ln - none).mean())
    assert row["p"] == pytest.approx(stats.ttest_rel(ln, none).pvalue)


def test_shares_are_those_of_the_answers_of_both_variants():
    names = [f"{rule}-{n}" for rule in RULES for n in (16, 32, 64)]
    pair = ("long-ln", "long-none")
    right = {line: {name: stream(line, name).random((6, 50)) < 0.6 for name in names} for line in pair}
    tests = paired_tests(ACCURACY, lambda task, line: right[line], [pair])
    of = rows(tests, task="argmax", line="long-ln", baseline="long-none", rule="averaged", length=64)
    expected = components(100.0 * right["long-ln"]["averaged-64"] - 100.0 * right["long-none"]["averaged-64"])
    assert of[[*vars(expected)]].to_numpy() == pytest.approx(np.array([[*vars(expected).values()]]))


# So many seeds that every gain is significant.
MANY = made_up(seeds=12, lengths=[2**power for power in range(4, 15)])


@pytest.fixture(scope="module")
def many():
    return paired_up(MANY)


def lines(numbers):
    """The cells of the table in Markdown, by its rows' names."""
    rows = [line.strip("| ").split("|") for line in markdown(numbers).splitlines()]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


@pytest.mark.parametrize("name", ["p", "length", "rule", "low"])
def test_a_normaliser_may_have_the_name_of_a_column(many, name):
    named = many.replace({"line": {"ln": name}, "baseline": {"ln": name}})
    found = numbers(named, name, PAPER)
    assert found[1][f"mean_{name}"].equals(numbers(many, "ln", PAPER)[1]["mean_ln"])
    for _, _, columns in table_rows(1, name):
        assert set(columns) <= set(found[1])


def test_agreement_counts_signs_both_ways(many):
    found = numbers(many, "ln", PAPER)
    table = found[2]
    paper = PAPER[(PAPER["table"] == 2) & (PAPER["statistic"] == "p")]["value"]
    significant = str((paper < 0.01).sum())
    assert lines(found)["Table 2"][3:] == [significant, significant, "0"]
    assert lines({2: table.assign(difference=-table["difference"])})["Table 2"][3:] == [significant, "0", significant]
    assert lines({2: table.assign(p=0.02)})["Table 2"][4:] == ["0", "0"]
    away = pd.concat([found[1][name] - found[1][f"paper_{name}"] for name in ("mean_none", "mean_ln")]).dropna()
    expected = [str(len(away)), f"{away.mean():+.1f}", f"{away.abs().mean():.1f}"]
    assert lines(found)["Table 1"][:3] == expected
    assert lines(found)["Table 3"][0] == str((PAPER["statistic"] == "difference").sum())
