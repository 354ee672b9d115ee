"""Raw accuracies by hand, none < std < ln by one point each, and their paired tests."""

import numpy as np
import pandas as pd

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.compare.paired_tests import paired_tests
from vanishing_variance.results.runs import REFERENCE, RULES

PAPER = read_csv(REFERENCE)


def made_up(norms=("none", "std", "ln"), seeds=4, lengths=(16, 16384)):
    rng = np.random.default_rng(0)
    rows = [
        (task, range_, norm, seed, rule, length, 0.5 + 0.01 * place + rng.normal(0, 0.004))
        for task in ("argmax", "dictionary")
        for range_ in ("short", "long")
        for place, norm in enumerate(norms)
        for seed in range(seeds)
        for rule in (*RULES, "step_00000005")
        for length in lengths
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def paired_up(accuracy, norm="ln", ranges=("short", "long")):
    """Every paired test of these accuracies, the answers behind them drawn at random."""
    seeds, lengths = accuracy["seed"].nunique(), accuracy["length"].unique()
    names = [f"{name}-{n}" for name in RULES for n in lengths]

    def answers(*variant):
        return {name: stream(*variant, name).random((seeds, 30)) < 0.5 for name in names}

    return paired_tests(accuracy, answers, norm, ranges)
