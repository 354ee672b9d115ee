"""Results by rule by hand, none < std < ln by one point each, and their comparison."""

import numpy as np
import pandas as pd

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.columns import COLUMNS
from vanishing_variance.results.comparison import compare
from vanishing_variance.results.runs import REFERENCE, RULES, compared, line_of, lines_of
from vanishing_variance.results.tables import WANTED, tests

PAPER = read_csv(REFERENCE)


def made_up(norms=("none", "std", "ln"), seeds=4, lengths=(16, 16384)):
    rng = np.random.default_rng(0)
    rows = [
        (task, line_of(norm, range_), seed, rule, length, 0.5 + 0.01 * place + rng.normal(0, 0.004))
        for task in ("argmax", "dictionary")
        for range_ in ("short", "long")
        for place, norm in enumerate(norms)
        for seed in range(seeds)
        for rule in (*RULES, "step_00000005")
        for length in lengths
    ]
    return pd.DataFrame(rows, columns=COLUMNS).assign(note=None)


def paired_up(accuracy, norm="ln", ranges=("short", "long")):
    """Every paired test of these accuracies, the answers behind them drawn at random."""
    seeds, lengths = accuracy["seed"].nunique(), accuracy["length"].unique()
    names = [f"{name}-{n}" for name in RULES for n in lengths]

    def answers(*variant):
        return {name: stream(*variant, name).random((seeds, 30)) < 0.5 for name in names}

    return paired_tests(accuracy, answers, compared(lines_of(norm, ranges)))


def paired_tests(accuracy, answers, pairs):
    """The paired tests of some pairs, trained on up to 16 items and tested on 512 sequences a length."""
    longest = dict.fromkeys(accuracy["line"].unique(), 16)
    return tests(compare(accuracy, pairs, longest, 512, WANTED, answers=answers))
