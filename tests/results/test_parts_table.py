"""The tables of where accuracy goes, of made-up results."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from vanishing_variance.results.arms import BEYOND
from vanishing_variance.results.comparison import compare
from vanishing_variance.results.parts import parts

LENGTHS = [16, 32, 256]


def made_up(seeds=range(6)):
    """Return results by rule of two lines, whose wrong answers are in three parts; some seeds of the second alone."""
    rng = np.random.default_rng(0)
    found = []
    for line in ("none", "ln"):
        for rule in ("last", "adaptive", "hard"):
            for length in LENGTHS:
                shares = rng.dirichlet([5, 2, 1, 1], len(seeds))
                frame = pd.DataFrame(shares, columns=["right", "misranked", "diluted", "misread"])
                frame = frame.assign(accuracy=frame["right"], right_misranked=0.1 * frame["right"])
                if rule == "hard":
                    frame[["misranked", "diluted", "misread", "right_misranked"]] = np.nan
                about = {"task": "argmax", "line": line, "rule": rule, "length": length, "seed": seeds, "note": None}
                found.append(frame.assign(**about))
    results = pd.concat(found, ignore_index=True)
    return results[(results["line"] == "ln") | (results["seed"] > 0)]


def wide(results, line, rule, column, length):
    one = results.query("line == @line and rule == @rule and length == @length")
    return 100 * one.set_index("seed")[column]


def test_the_gains_in_the_parts_add_up_to_the_gain_and_the_temperature_gains_over_its_own_models():
    results = made_up()
    found = parts(results.sample(frac=1, random_state=0), [("ln", "none")], {"ln": 16, "none": 16}, 512)
    table = [[cell.strip() for cell in row.split("|")[1:-1]] for row in found.splitlines() if row.startswith("| ")]
    shown = {tuple(row[:4]): row[4:] for row in table}
    columns = ("misranked", "diluted", "misread")
    for pair, baseline, rules in (("ln − none", "none", ("last", "last")), ("ln θ − ln", "ln", ("adaptive", "last"))):
        n, gain, *fewer = shown["argmax", pair, "last", "2^8"]
        changes = [
            wide(results, baseline, rules[1], name, 256) - wide(results, "ln", rules[0], name, 256) for name in columns
        ]
        means = [change.dropna().mean() for change in changes]
        assert n == str(len(changes[0].dropna()))
        assert [cell.split(" ")[0] for cell in (gain, *fewer)] == [f"{mean:+.1f}" for mean in (sum(means), *means)]
    assert shown["argmax", "none θ", "last", "beyond"][0] == "5"
    assert "hard" not in found


def test_the_interval_of_a_part_is_that_of_the_paired_seeds():
    results = made_up()
    found = compare(results, [("ln", "none")], {"ln": 16}, 512, [("gain_diluted", BEYOND)], ["last"]).iloc[0]
    beyond = [
        results.query("line == @line and rule == 'last' and length > 16").groupby("seed")["diluted"].mean()
        for line in ("none", "ln")
    ]
    change = 100 * (beyond[0] - beyond[1]).dropna()
    low, high = stats.t.interval(0.95, len(change) - 1, change.mean(), stats.sem(change))
    assert (found["value"], found["low"], found["high"]) == pytest.approx((change.mean(), low, high))


def test_a_line_of_which_a_training_diverged_has_no_parts():
    results = made_up()
    diverged = pd.DataFrame([{"task": "argmax", "line": "ln", "note": "the loss is nan"}])
    without = parts(results.query("line == 'none'"), [("ln", "none")], {"ln": 16, "none": 16}, 512)
    assert parts(pd.concat([results, diverged]), [("ln", "none")], {"ln": 16, "none": 16}, 512) == without


def test_one_line_has_parts_and_no_gains():
    found = parts(made_up().query("line == 'ln' and rule == 'last'"), [], {"ln": 16}, 512)
    assert "# Where accuracy goes" in found
    assert "Gains" not in found


def test_parts_of_some_of_the_sequences_are_said_not_to_add_up():
    pairs, longest = [("ln", "none")], {"ln": 16, "none": 16}
    assert "of the first sequences" not in parts(made_up(), pairs, longest, 512)
    others = made_up().assign(accuracy=lambda of: of["accuracy"] - 0.01)
    assert "of the first sequences" in parts(others, pairs, longest, 512)


def test_results_without_parts_have_no_tables():
    columns = ["misranked", "diluted", "misread", "right_misranked"]
    assert parts(made_up().assign(**dict.fromkeys(columns, np.nan)), [], {}, 512) is None
