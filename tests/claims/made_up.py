"""Raw results by hand, in which every claim is true that is measured; each can be turned round by one number."""

import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import judge
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.core.frames import read_csv
from vanishing_variance.study.interventions import ATTENTION, BASE, DAMAGING, NOTHING, OTHER, PLACES, RECOVERING
from vanishing_variance.study.runs import REFERENCE
from vanishing_variance.study.strategies import STRATEGIES

ROOT = Path(__file__).resolve().parents[2]
LENGTHS = (16, 64, 512, 4096)
SEEDS = 8
RECOVERED = [name for name in RECOVERING if name != OTHER]
GAIN = {"none": 0.0, "std": 0.05, "ln": 0.1}


def steps(short=(100_000, 10_000), long=(100_000, 10_000)):
    """Gradient steps of argmax and dictionary, by range."""
    made = {"short": short, "long": long}
    return {(task, name): of[place] for name, of in made.items() for place, task in enumerate(("argmax", "dictionary"))}


def accuracy():
    """Beyond 16 none < std < ln by 5 points each on argmax; std is as good as ln on dictionary."""
    rng = np.random.default_rng(0)
    rows = []
    for task in ("argmax", "dictionary"):
        for range_ in ("short", "long"):
            for norm in ("none", "std", "ln") if range_ == "short" else ("none", "ln"):
                gain = GAIN["ln" if task == "dictionary" and norm == "std" else norm]
                for seed in range(SEEDS):
                    for temperature in ("plain", "adaptive", "fitted"):
                        for length in LENGTHS:
                            value = (0.998 if length == 16 else 0.5 + gain) + rng.normal(0, 0.004)
                            rows.append((task, range_, norm, seed, temperature, length, value))
    return pd.DataFrame(rows, columns=["task", "range", "norm", "seed", "temperature", "length", "accuracy"])


def mechanism(accuracies):
    """Models whose variance decays, less so with ln, and decides the accuracy; where attention goes does not."""
    rng = np.random.default_rng(1)
    rows = []
    plain = accuracies.query("temperature == 'plain' and range == 'short'")
    for (task, norm, seed, length), of in plain.groupby(["task", "norm", "seed", "length"]):
        kept = 0.5 if norm == "none" else 0.9
        noise = rng.normal(0, 0.01)
        row = {"task": task, "range": "short", "norm": norm, "seed": seed, "length": length}
        row |= {"accuracy": of["accuracy"].iloc[0], "target": rng.uniform(0.4, 0.6), "largest": 0.7}
        row |= {"entropy": 1.0, "largest16": (0.5 if norm == "none" else 0.8) + noise}
        for where in ("before", "after"):
            variance = 0.3 * np.exp(row["accuracy"]) if where == "after" else kept + noise
            row |= {f"variance_{where}": variance, f"trained_variance_{where}": 1.0}
            moved = 0.5 * (1 - kept) if where == "after" else 0.25
            row |= {f"mean_{where}": moved + noise, f"trained_mean_{where}": 0.0}
            row |= {f"mean_se_{where}": 0.001, f"trained_mean_se_{where}": 0.001}
            row |= {f"feature_variance_{where}": 0.4 + noise, f"trained_feature_variance_{where}": 1.0}
            row |= {f"shift_{where}": (0.6 if norm == "none" else 0.3) + noise, f"trained_shift_{where}": 0.05}
        rows.append(row)
    return pd.DataFrame(rows)


def interventions(accuracies=None, **changes):
    """Models of the short range that each intervention puts right, and whose training sequences each breaks.

    `changes`: the accuracy of an intervention in models without a normaliser; `ln` reads better, whatever the weights.
    """
    plain = (accuracy() if accuracies is None else accuracies).query("temperature == 'plain' and range == 'short'")
    rows = []
    for (task, norm, seed, length), of in plain.groupby(["task", "norm", "seed", "length"]):
        about, base = (task, "short", norm, seed), of["accuracy"].iloc[0]
        if length == 16:
            rows.append((*about, 0, BASE, NOTHING, 0.998))
        rows += [(*about, length, name, where, 0.95) for name in RECOVERED for where in (*PLACES, ATTENTION)]
        rows += [(*about, length, name, where, 0.5) for name in DAMAGING for where in (*PLACES, ATTENTION)]
        rows += [(*about, length, BASE, NOTHING, base), (*about, length, OTHER, ATTENTION, base)]
    frame = pd.DataFrame(rows, columns=["task", "range", "norm", "seed", "length", "intervention", "where", "accuracy"])
    noise = np.random.default_rng(3).normal(0, 0.002, len(frame))
    for name, value in changes.items():
        chosen = (frame["intervention"] == name) & (frame["norm"] == "none")
        frame.loc[chosen, "accuracy"] = value
    return frame.assign(accuracy=frame["accuracy"] + noise)


@cache
def intervened():
    """The same, made once."""
    return interventions()


def exponents():
    models = itertools.product(("argmax", "dictionary"), ("none", "ln"), range(20))
    frame = pd.DataFrame(models, columns=["task", "norm", "feature"])
    return frame.assign(exponent=-1.0, low=-1.1, high=-0.9)


def fits():
    rows = [(name, part) for name in STRATEGIES for part in range(4)]
    frame = pd.DataFrame(rows, columns=["strategy", "component"])
    return frame.assign(layer=0, head=0, exponent=-0.48, low=-0.55, high=-0.4, model="meta-llama/Llama-3.2-1B")


def losses(falls=0.0, steps=10_000):
    """Training losses of dictionary whose last tenth is lower than the tenth before by about this share."""
    rng = np.random.default_rng(2)
    rows = []
    for norm in ("none", "ln"):
        for seed in range(SEEDS):
            for step in range(100, steps + 1, 100):
                level = 0.02 * np.exp(-falls * (step > 9_000)) if step > 8_000 else 0.1
                rows.append(("dictionary", norm, seed, step, level * np.exp(rng.normal(0, 0.02))))
    return pd.DataFrame(rows, columns=["task", "norm", "seed", "step", "loss"])


def evidence(**changes):
    accuracies = changes.pop("accuracy", None)
    accuracies = accuracy() if accuracies is None else accuracies
    same = {"answers": 1000, "differ": 0.0, "logits_differ": 1e-6, "logits_deviation": 2.0}
    known = {
        "accuracy": accuracies,
        "mechanism": mechanism(accuracies),
        "interventions": intervened(),
        "exponents": exponents(),
        "fits": fits(),
        "capacity": {"argmax": same, "dictionary": same},
        "losses": losses(),
        "paper": read_csv(REFERENCE),
        "longest": {"short": 16, "long": 256},
        "steps": steps(),
        "root": 0,
    }
    return Evidence(**known | changes)


BY_KEY = {claim.key: claim for claim in CLAIMS}
# Nothing measures it.
CAPACITY = {"capacity"}


def verdict(key, **changes):
    return judge([BY_KEY[key]], evidence(**changes))[key]


def shifted(task, norm, by, range_="short", temperatures=("plain",), lengths=None):
    """The raw results, the accuracies of one variant moved by as many percentage points."""
    frame = accuracy()
    chosen = (frame["task"] == task) & (frame["norm"] == norm) & (frame["range"] == range_)
    chosen &= frame["temperature"].isin(temperatures)
    if lengths:
        chosen &= frame["length"].isin(lengths)
    frame.loc[chosen, "accuracy"] += by / 100
    return frame


def noisy(deviation, root=1, **only):
    """The raw results with more noise beyond training, in percentage points; of the rows with these values alone."""
    frame = accuracy()
    chosen = frame["length"] > 16
    for name, value in only.items():
        chosen &= frame[name] == value
    frame.loc[chosen, "accuracy"] += np.random.default_rng(root).normal(0, deviation / 100, chosen.sum())
    return frame
