"""Pieces with made-up numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.explained import INSIDE, OUTPUTS, WEIGHTS
from vanishing_variance.results.records.pieces import Piece, parameters, write_piece

PARAMS = yaml.safe_load(Path(__file__).parents[1].joinpath("smoke.yaml").read_text())
MACHINE = {"cores": 2, "versions": {"python": "3.11", "torch": "2.13", "numpy": "2.4"}, "revision": "abc"}


def wider():
    """Parameters of other models."""
    return PARAMS | {"model": PARAMS["model"] | {"width": 99}}


def piece(folder, task, norm, seeds, params=PARAMS):
    """Write a piece whose numbers are drawn by seed, so that it is the same whoever makes it; return its folder."""
    rows, inside = [], []
    for seed in seeds:
        rng = np.random.default_rng([seed, len(norm), len(task)])
        model = {"task": task, "range": "short", "norm": norm, "seed": seed}
        for length in params["test"]["lengths"]:
            for rule in ("adaptive", "plain"):
                accuracy = rng.uniform(0.4, 0.9)
                rows.append(model | {"rule": rule, "length": length, "accuracy": accuracy})
        for length in (0, *params["test"]["lengths"]):
            numbers = {name: round(rng.uniform(0.1, 1), 6) for name in (*WEIGHTS, *OUTPUTS)}
            inside.append(model | {"length": length} | numbers | (dict.fromkeys(WEIGHTS) if length == 0 else {}))
    described = {"task": task, "range": "short", "norm": norm, "seeds": list(seeds), "device": "some CPU"}
    described |= MACHINE | {"minutes": 1.5, "parameters": parameters(params, task, "short")}
    write_piece(folder, Piece(described, pd.DataFrame(rows)[COLUMNS], pd.DataFrame(inside)[INSIDE]))
    return folder


def pieces(top, seeds, tasks=("argmax", "dictionary"), norms=("none", "std", "ln"), params=PARAMS):
    """Write a piece of each task and norm."""
    top = top / f"pieces {seeds[0]}"
    return [piece(top / f"{task}-{norm}", task, norm, seeds, params) for task in tasks for norm in norms]
