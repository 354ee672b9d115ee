"""Small results of the shape that the stages write, for the tests of the page."""

import numpy as np
import pandas as pd
import yaml
from checkout import ROOT

from vanishing_variance.harness.columns import CSV
from vanishing_variance.measure.interventions.names import damaged
from vanishing_variance.report.figures import NAMES
from vanishing_variance.report.page import Results
from vanishing_variance.report.records import Record
from vanishing_variance.report.strongest import Evidence, Study
from vanishing_variance.results.quantities import GROUPINGS, QUANTITIES
from vanishing_variance.results.tables import tables

LENGTHS = (16, 100, 16384)
TEMPERATURES = ("plain", "adaptive", "fitted")
CLAIM = {
    "claim": "ln helps beyond the training lengths",
    "where": "Section 3.1, Table 1",
    "rule": "supported where the interval lies above 0 at 2^14",
    "verdict": "supported",
    "size": "",
    "ours": 3.25,
    "low": 1.0,
    "high": 5.5,
    "paper": 1.8,
    "unit": "pp",
    "n": 2,
    "steps": {"argmax": 100_000},
    "evidence": "ahead by 3.25 points",
}
STEPS = {("argmax", "short"): 80_000, ("dictionary", "short"): 10_000}
STEPS |= {("argmax", "long"): 4_000, ("dictionary", "long"): 4_000}


def comparisons(norm="ln", ranges=("short", "long")):
    """Rows of tests.csv: means of 50 ± a tenth of the row's number, which is the difference; p a thousandth."""
    short = dict.fromkeys([(norm, "none"), ("ln", "none"), ("std", "none"), ("ln", "std")])
    pairs = {"short": list(short), "long": [(norm, "none")]}
    keys = [
        (task, range_, treatment, baseline, temperature, length)
        for task in ("argmax", "dictionary")
        for range_ in ranges
        for treatment, baseline in pairs[range_]
        for temperature in TEMPERATURES
        for length in LENGTHS
    ]
    frame = pd.DataFrame(keys, columns=["task", "range", "treatment", "baseline", "temperature", "length"])
    row = np.arange(len(frame), dtype=float)
    return frame.assign(
        n=2,
        treatment_mean=50 + row / 10,
        treatment_low=45,
        treatment_high=55,
        baseline_mean=50 - row / 10,
        baseline_low=45,
        baseline_high=55,
        difference=row,
        low=row - 1.5,
        high=row + 1.5,
        p=row / 1000,
        p_holm=row / 100,
        p_wilcoxon=row / 50,
        d_z=row / 4,
        seeds_for_power=1000 + row,
        note=np.nan,
        **dict.fromkeys(("boot_low", "boot_high", "share_sequences"), np.nan),
    )


CELLS = [
    (1, "none", "accuracy_pct", 16, 90.0),
    (1, "ln", "accuracy_pct", 16, 40.0),
    (1, "none", "accuracy_pct", 16384, 49.8),
    (1, "ln_vs_none", "p_value", 16384, 0.003),
    (3, "std", "gain_over_none_pct", 16, 7.0),
    (6, "ln_vs_std", "p_value", 16, 0.9),
]


def numbers(norm="ln", tests=None):
    """Tables 1 to 6 as the stage ttest writes them, by number."""
    columns = {"table": int, "variant": str, "quantity": str, "length": int, "value": float}
    reference = pd.DataFrame(CELLS, columns=[*columns]).astype(columns).assign(temperature="plain")
    tests = comparisons(norm) if tests is None else tests
    return {number: table.numbers for number, table in tables(tests, norm, reference, STEPS).items()}


def paper():
    """Rows of metrics/tables/paper.csv, all of plain softmax and the short range."""
    columns = ["table", "variant", "quantity", "length", "paper"]
    tasks = {1: "argmax", 2: "dictionary", 3: "argmax", 6: "dictionary"}
    frame = pd.DataFrame(CELLS, columns=columns).astype({"paper": float})
    return frame.assign(temperature="plain", range="short", task=frame["table"].map(tasks))


def explained():
    """Every quantity explains half of everything, and a quarter beyond; of one there are no numbers."""
    places = [("argmax", "short"), ("dictionary", "long")]
    numbers = (0.5, 0.4, 0.6, 0.25, 0.2, 0.3)
    rows = [
        (*of, "none, ln", grouping, name, *numbers) for of in places for grouping in GROUPINGS for name in QUANTITIES
    ]
    bounds = ["r2", "r2_low", "r2_high", "beyond", "beyond_low", "beyond_high"]
    frame = pd.DataFrame(rows, columns=["task", "range", "norms", "grouping", "quantity", *bounds])
    frame.loc[frame["quantity"] == "target", bounds] = np.nan
    return frame


def shares():
    """Half of the loss comes back by an intervention in models of two tasks; of long ones there is no std."""
    models = [("argmax", "short", norm) for norm in ("none", "std", "ln")]
    models += [("dictionary", "long", norm) for norm in ("none", "ln")]
    places = [("recovered", "target weight restored", "attention")]
    places += [("damage", damaged("global"), where) for where in ("before", "after")]
    numbers = ("beyond training", np.nan, 8, 10, 9, 11, 20, 19, 21, 0.5, 0.4, 0.6, "")
    return pd.DataFrame([(*model, *of, *numbers) for model in models for of in places], columns=[*CSV["shares"]])


VERDICTS = {
    "argmax": "supported",
    "vanishing": "contradicted",
    "dictionary": "undecided",
    "capacity": "not tested",
    "cause-moments-dictionary": "undecided",
    "cause-moments-argmax": "not comparable",
    "own-claim": "supported",
}


def evidence(**changes):
    """Claims of every verdict and group; the first is the record's, beside this run's of a tenth of the steps."""
    few = {**CLAIM, "verdict": "not comparable", "ours": -1.0, "low": -2.0, "high": 0.5, "steps": {"argmax": 10_000}}
    claims = {key: Evidence({**CLAIM, "verdict": verdict, **changes}) for key, verdict in VERDICTS.items()}
    return claims | {"argmax": Evidence(claims["argmax"].claim, True, few)}


def picture(name):
    """A figure as SVG, with its words."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:dc="http://purl.org/dc/elements/1.1/" width="540pt" '
        f'height="270pt"><title>{name} 100% #1 "x"</title><metadata><dc:title>Title of {name}</dc:title>'
        f"<dc:description>N ≥ 2⁴ &lt;in {name}&gt;</dc:description></metadata>"
        '<rect width="540" height="270" fill="#0072B2"/></svg>'
    )


def made_up(norm="ln", **changes):
    """The contents of the page, of a treatment; some of them changed."""
    source = (ROOT / "tests/smoke.yaml").read_text().replace("norm: ln", f"norm: {norm!r}")
    study = Study({key: of.claim for key, of in evidence().items()}, yaml.safe_load(source))
    compared, drawn = paper().assign(difference=1.0), {"accuracy": picture("accuracy of the record")}
    record = Record(study, comparisons(norm).assign(n=8), compared, {1: numbers(norm)[1]}, drawn)
    shown = {
        "params": yaml.safe_load(source),
        "source": source,
        "evidence": evidence(),
        "tests": comparisons(norm),
        "paper": paper(),
        "explained": explained(),
        "interventions": shares(),
        "tables": numbers(norm),
        "pictures": {name: picture(name) for name in NAMES},
        "records": dict.fromkeys(("record", "other"), record),
    }
    return Results(**shown | changes)
