"""Small results of the shape that the stages write, for the tests of the page."""

from itertools import product

import numpy as np
import pandas as pd
from checkout import ROOT

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.frames import read_csv, tidied
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.page import Figure, Results, page
from vanishing_variance.report.strongest import Judged
from vanishing_variance.results.runs import REFERENCE
from vanishing_variance.results.shares import shares

LENGTHS = (16, 100, 16384)
CLAIM = {
    "claim": "ln helps beyond the training lengths",
    "where": "Section 3.1, Table 1",
    "rule": "supported where the interval lies above 0 at 2^14",
    "verdict": "supported",
    "as_read": False,
    "after_results": True,
    "size": "",
    "ours": 3.25,
    "low": -1.0,
    "high": 5.5,
    "paper": 1.8,
    "unit": "pp",
    "n": 2,
    "steps": {"argmax": 100_000},
    "evidence": "ahead by 3.25 points",
}
VERDICTS = {
    "vanishing": "contradicted",
    "argmax": "supported",
    "dictionary": "undecided",
    "capacity": "not tested",
    "cause-moments-argmax": "not comparable",
}
PARAMS = read_yaml(ROOT / "tests/smoke.yaml")


def claims(**changes):
    """Return claims of every verdict, by key."""
    return {key: {**CLAIM, "verdict": verdict, **changes} for key, verdict in VERDICTS.items()}


def comparisons(norm="ln"):
    """Return rows of tests.csv on the short range: differences are 0, 1, 2 with plain softmax, then 3, 4, 5."""
    pairs = dict.fromkeys([(norm, "none"), ("ln", "none"), ("std", "none"), ("ln", "std")])
    parts = []
    for task, (treatment, baseline) in product(("argmax", "dictionary"), pairs):
        part = pd.DataFrame(list(product(("last", "adaptive"), LENGTHS)), columns=["rule", "length"])
        row = np.arange(6.0)
        part = part.assign(task=task, range="short", treatment=treatment, baseline=baseline, n=2, difference=row)
        part = part.assign(treatment_mean=50 + row, baseline_mean=50.0, low=row - 1.5, high=row + 1.5)
        parts.append(part.assign(p=row / 1000, p_holm=row / 100))
    return pd.concat(parts, ignore_index=True)


def made_up(norm="ln", drawn="accuracy", **changes):
    """Return results of a treatment, with one figure; some of the claims changed."""
    figure = Figure(f"../figures/{drawn}.png", f"Title of {drawn}", f"Caption of <{drawn}>, n = 2")
    judged = Judged(claims(**changes), {**PARAMS, "norm": norm})
    return Results(judged, comparisons(norm), [figure])


def answer():
    """Return the README's picture, and means of one treatment."""
    longest = {"length": 16384, "mean": 93.7, "n": 2}
    means = pd.DataFrame([{"treatment": "three changes", "task": task, **longest} for task in ("argmax", "dictionary")])
    return Figure("../figures/answer.png", "Title of answer", "Caption of <answer>, n = 2"), means


def rendered(run=None, paper_scale=None, source="norm: ln\n"):
    """Return the page of made-up results: a run, the study at the paper's scale, and the one without biases."""
    paper_scale = paper_scale or made_up(drawn="recorded")
    others = {"without-biases": claims(ours=-0.9, n=3)}
    intervened = tidied(read_csv(ROOT / "metrics/interventions/accuracy.csv"), "accuracy")
    lost = shares(intervened, {"short": 16, "long": 256})
    return page(*answer(), run or made_up(), paper_scale, others, lost, read_csv(REFERENCE), source)


def draw(path):
    """Write a figure."""
    figure = style.figure(1)
    figure.subplots()
    write_figure(path.with_suffix(""), Drawing(figure, "Title", "Caption"))
