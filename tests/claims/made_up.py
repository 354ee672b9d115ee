"""Raw results by hand, in which every claim is true that is measured; each can be turned round by one number."""

import itertools
from functools import cache

import numpy as np
import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import OF_STUDY, judge
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.measure.interventions.names import ATTENTION, BASE, BEFORE, DAMAGING, NOTHING, OTHER, RECOVERING
from vanishing_variance.probe.strategies import STRATEGIES
from vanishing_variance.results.columns import COLUMNS
from vanishing_variance.results.files import TrainingSetup
from vanishing_variance.results.runs import REFERENCE, TASKS, line_of, lines_of, range_of

LENGTHS = (16, 64, 512, 4096)
RANGES = ("short", "long")
SEEDS = 8
LINES = lines_of("ln", RANGES)
GAIN = {"none": 0.0, "std": 0.05, "ln": 0.1}
BY_KEY = {claim.key: claim for claim in CLAIMS}
# Those that accuracies and the inside of models decide.
RECORDED = [claim for claim in CLAIMS if claim.statistic in OF_STUDY]


def steps(argmax=100_000, dictionary=10_000, ranges=RANGES):
    """Gradient steps by task and line, of other ranges the paper's."""
    papers, made = {"argmax": 100_000, "dictionary": 10_000}, {"argmax": argmax, "dictionary": dictionary}
    return {(task, line): (made if range_of(line) in ranges else papers)[task] for task in TASKS for line in LINES}


@cache
def _accuracy():
    rng = np.random.default_rng(0)
    rows = []
    for task, range_, norm in itertools.product(TASKS, RANGES, GAIN):
        line, gain = line_of(norm, range_), GAIN["ln" if task == "dictionary" and norm == "std" else norm]
        for seed, rule, length in itertools.product(range(SEEDS), ("last", "adaptive"), LENGTHS):
            noise = rng.normal(0, 0.004)
            value = 0.998 + noise / 10 if length == 16 else 0.5 + gain + noise
            rows.append((task, line, seed, rule, length, value))
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.query("line != 'long-std'").assign(note=None)


def longest_trained(**of_range):
    """The longest training length by line."""
    return {line: of_range[range_of(line)] for line in LINES if range_of(line) in of_range}


def accuracy():
    """Beyond 16 none < std < ln by 5 points each on argmax; std is as good as ln on dictionary."""
    return _accuracy().copy()


def mechanism():
    """Models of the short range whose variance decays, less so with ln; they keep 0.5 (none) and 0.9 of it."""
    of = accuracy().query(f"rule == 'last' and line in {list(GAIN)}").drop(columns=["rule", "note"])
    none = of["line"] == "none"
    kept, noise = np.where(none, 0.5, 0.9), np.random.default_rng(1).normal(0, 0.01, len(of))
    before = {"variance_before": kept + noise, "feature_variance_before": 0.4 + noise}
    after = {"variance_after": np.where(none, 0.5, 0.6) + noise, "feature_variance_after": 0.4 + noise}
    after |= {"mean_after": 0.5 * (1 - kept) + noise, "mean_se_after": 0.001, "shift_after": 0.8 - 0.5 * kept + noise}
    trained = dict.fromkeys([f"trained_{name}" for name in (*before, *after)], 1.0)
    trained |= {"trained_mean_after": 0.0, "trained_mean_se_after": 0.001, "trained_shift_after": 0.05}
    attention = {"target": 0.5, "largest": 0.7, "entropy": 1.0, "largest16": np.where(none, 0.5, 0.8) + noise}
    return of.assign(**before, **after, **trained, **attention)


def interventions(accuracies=None, **changes):
    """Models of the short range that each intervention puts right, and whose training sequences each breaks.

    `changes`: the accuracy of an intervention in models without a normaliser; `ln` reads better, whatever the weights.
    """
    of = _accuracy() if accuracies is None else accuracies
    last, rows = of.query(f"rule == 'last' and line in {list(GAIN)} and length in (16, 64, 4096)"), []
    for task, line, seed, _, length, base, _ in last.itertuples(index=False):
        about = (task, line, seed)
        if length == 16:
            rows.append((*about, 0, BASE, NOTHING, 0.998))
        rows += [(*about, length, BASE, NOTHING, base), (*about, length, OTHER, ATTENTION, base)]
        for name, where in itertools.product((*RECOVERING, *DAMAGING), (BEFORE, ATTENTION)):
            if name != OTHER:
                rows.append((*about, length, name, where, 0.95 if name in RECOVERING else 0.5))
    frame = pd.DataFrame(rows, columns=["task", "line", "seed", "length", "intervention", "where", "accuracy"])
    for name, value in changes.items():
        frame.loc[(frame["intervention"] == name) & (frame["line"] == "none"), "accuracy"] = value
    return frame.assign(accuracy=frame["accuracy"] + np.random.default_rng(3).normal(0, 0.002, len(frame)))


def exponents():
    models = itertools.product(TASKS, ("none", "ln"), range(20))
    frame = pd.DataFrame(models, columns=["task", "line", "feature"])
    return frame.assign(exponent=-1.0, low=-1.1, high=-0.9)


def fits():
    """Return slopes before W_O as in the paper; after it nothing falls."""
    made = itertools.product(STRATEGIES, ("before", "after"), range(4))
    frame = pd.DataFrame(made, columns=["strategy", "place", "feature"])
    frame = frame.assign(layer=0, exponent=-0.48, low=-0.55, high=-0.4, model="meta-llama/Llama-3.2-1B")
    frame.loc[frame["place"] == "after", ["exponent", "low", "high"]] = [0.01, -0.1, 0.1]
    return frame


def losses(falls=0.0, steps=10_000):
    """Training losses of dictionary whose last tenth is lower than the tenth before by about this share."""
    made = itertools.product(["dictionary"], ("none", "ln"), range(SEEDS), range(100, steps + 1, 100))
    frame = pd.DataFrame(made, columns=["task", "line", "seed", "step"])
    level = np.where(frame["step"] > 8_000, 0.02 * np.exp(-falls * (frame["step"] > 9_000)), 0.1)
    return frame.assign(loss=level * np.exp(np.random.default_rng(2).normal(0, 0.02, len(frame))))


@cache
def _known():
    """What is expensive, made once."""
    return {"mechanism": mechanism(), "interventions": interventions(), "paper": read_csv(REFERENCE)}


def evidence(**changes):
    shortest, longest = dict.fromkeys(LINES, 5), longest_trained(short=16, long=256)
    setup = {"shortest": shortest, "longest": longest, "steps": steps(), "sequences": 512}
    setup |= {name: changes.pop(name) for name in setup.keys() & changes.keys()}
    known = {"accuracy": accuracy(), "exponents": exponents(), "fits": fits(), "losses": losses()}
    known |= {"training": TrainingSetup(**setup)}
    return Evidence(**_known() | known | changes)


def verdict(key, **changes):
    return judge([BY_KEY[key]], evidence(**changes))[key]


def shifted(task, line, by, rules=("last",), lengths=LENGTHS):
    """The raw results, the accuracies of one line moved by as many percentage points."""
    frame = accuracy()
    chosen = (frame["task"] == task) & (frame["line"] == line)
    chosen &= frame["rule"].isin(rules) & frame["length"].isin(lengths)
    frame.loc[chosen, "accuracy"] += by / 100
    return frame.assign(accuracy=frame["accuracy"].clip(0, 1))


def noisy(deviation, root=1, **only):
    """The raw results with more noise beyond training, in percentage points; of the rows with these values alone."""
    frame = accuracy()
    chosen = frame["length"] > 16
    for name, value in only.items():
        chosen &= frame[name] == value
    frame.loc[chosen, "accuracy"] += np.random.default_rng(root).normal(0, deviation / 100, chosen.sum())
    return frame.assign(accuracy=frame["accuracy"].clip(0, 1))
