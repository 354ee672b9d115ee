"""Small results of the shape that the stages write, for the tests of the page."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from vanishing_variance.analysis.tables import tables
from vanishing_variance.report.figures import NAMES
from vanishing_variance.report.page import Results
from vanishing_variance.report.records import Record
from vanishing_variance.report.strongest import Evidence, Study
from vanishing_variance.study.columns import CSV
from vanishing_variance.study.interventions import damaged
from vanishing_variance.study.quantities import GROUPINGS, QUANTITIES

ROOT = Path(__file__).resolve().parents[2]
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


def comparisons(norm="ln", ranges=("short", "long"), lengths=LENGTHS):
    """Rows of tests.csv: means of 50 ± a tenth of the row's number, which is the difference; p a thousandth."""
    short = dict.fromkeys([(norm, "none"), ("ln", "none"), ("std", "none"), ("ln", "std")])
    pairs = {"short": list(short), "long": [(norm, "none")]}
    keys = [
        (task, range_, treatment, baseline, temperature, length)
        for task in ("argmax", "dictionary")
        for range_ in ranges
        for treatment, baseline in pairs[range_]
        for temperature in TEMPERATURES
        for length in lengths
    ]
    frame = pd.DataFrame(keys, columns=["task", "range", "treatment", "baseline", "temperature", "length"])
    row = np.arange(len(frame), dtype=float)
    return frame.assign(
        n=2,
        treatment_mean=50 + row / 10,
        baseline_mean=50 - row / 10,
        **{
            f"{role}_{end}": 50 + sign for role in ("treatment", "baseline") for end, sign in (("low", -5), ("high", 5))
        },
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


STEPS = {("argmax", "short"): 80_000, ("dictionary", "short"): 10_000, ("argmax", "long"): 4_000}
STEPS[("dictionary", "long")] = 4_000


def numbers(norm="ln", cells=None, tests=None):
    """Tables 1 to 6 as the stage ttest writes them, by number."""
    columns = {"table": int, "variant": str, "quantity": str, "length": int, "value": float}
    reference = pd.DataFrame(CELLS if cells is None else cells, columns=[*columns]).astype(columns)
    reference = reference.assign(temperature="plain")
    tests = comparisons(norm) if tests is None else tests
    return {number: table.numbers for number, table in tables(tests, norm, reference, STEPS).items()}


def paper(cells):
    """Rows of metrics/tables/paper.csv: of table, variant, quantity, length and paper; plain softmax.

    Of Tables 1 to 3 on argmax and of Table 6 on dictionary, all on the short range.
    """
    columns = ["table", "variant", "quantity", "length", "paper"]
    frame = pd.DataFrame(cells, columns=columns).astype({"paper": float})
    tasks = {**dict.fromkeys((1, 3), "argmax"), **dict.fromkeys((2, 6), "dictionary")}
    return frame.assign(temperature="plain", range="short", task=frame["table"].map(tasks))


CELLS = [
    *((1, "none", "accuracy_pct", 16, 90.0), (1, "ln", "accuracy_pct", 16, 40.0)),
    *((1, "none", "accuracy_pct", 16384, 49.8), (1, "ln_vs_none", "p_value", 16384, 0.003)),
    *((3, "std", "gain_over_none_pct", 16, 7.0), (6, "ln_vs_std", "p_value", 16, 0.9)),
]


def explained():
    """Every quantity explains half of everything, but for two cells."""
    rows = [
        (task, range_, "none, ln", grouping, name, *(0.5, 0.4, 0.6), *(0.25, 0.2, 0.3))
        for task, range_ in (("argmax", "short"), ("dictionary", "long"))
        for grouping in GROUPINGS
        for name in QUANTITIES
    ]
    bounds = [f"{of}{end}" for of in ("r2", "beyond") for end in ("", "_low", "_high")]
    frame = pd.DataFrame(rows, columns=["task", "range", "norms", "grouping", "quantity", *bounds])
    first = (frame["task"] == "argmax") & (frame["grouping"] == "between models")
    frame.loc[first & (frame["quantity"] == "target"), ["r2", "beyond", "beyond_low", "beyond_high"]] = [
        0.875,
        *[None] * 3,
    ]
    frame.loc[first & (frame["quantity"] == "entropy"), ["r2_low", "r2_high"]] = None
    return frame


def shares():
    """Half of the loss comes back by every intervention in models of two tasks; of long models there is no std."""
    places = {"recovered": ("target weight restored", "attention"), "damage": (damaged("global"), "before")}
    rows = [
        (
            task,
            range_,
            norm,
            kind,
            name,
            where,
            "beyond training",
            np.nan,
            8,
            *(10, 9, 11),
            *(20, 19, 21),
            0.5,
            0.4,
            0.6,
        )
        for task, range_, norms in (("argmax", "short", ("none", "std", "ln")), ("dictionary", "long", ("none", "ln")))
        for norm in norms
        for kind, (name, where) in (*places.items(), ("damage", (damaged("global"), "after")))
    ]
    frame = pd.DataFrame(rows, columns=CSV["shares"][:-1]).assign(note="")
    frame.loc[frame["norm"] == "std", ["share", "share_low", "share_high"]] = np.nan
    return frame


KEYS = (
    "argmax",
    "vanishing",
    "dictionary",
    "capacity",
    "cause-moments-dictionary",
    "cause-moments-argmax",
    "own-claim",
)
VERDICTS = (
    *("supported", "contradicted", "undecided", "not tested", "undecided", "not comparable"),
    "supported",
)


def evidence(**changes):
    """Claims of every verdict and group; the first is the record's, beside this run's of a tenth of the steps."""
    few = {**CLAIM, "verdict": VERDICTS[5], "ours": -1.0, "low": -2.0, "high": 0.5, "steps": {"argmax": 10_000}}
    claims = {key: {**CLAIM, "verdict": verdict, **changes} for key, verdict in zip(KEYS, VERDICTS, strict=True)}
    return {key: Evidence(claim) for key, claim in claims.items()} | {"argmax": Evidence(claims["argmax"], True, few)}


def all_of(verdict):
    """Every claim that the answer rests on, with one verdict."""
    causes = [f"cause-{of}-{task}" for of in ("moments", "attention") for task in ("argmax", "dictionary")]
    keys = ("argmax", "dictionary", "vanishing", *causes)
    return dict.fromkeys(keys, Evidence({**CLAIM, "verdict": verdict}))


def picture(name):
    words = f"<dc:title>Title of {name}</dc:title><dc:description>N ≥ 2⁴ &lt;in {name}&gt;</dc:description>"
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:dc="http://purl.org/dc/elements/1.1/" width="540pt" '
        'height="270pt"><title>{} 100% #1 "x"</title><metadata>{}</metadata>{}</svg>'
    )
    return drawn.format(name, words, '\n<rect id="one" width="540"\nheight="270" fill="#0072B2"/>')


def made_up(norm="ln", **changes):
    source = (ROOT / "tests/smoke.yaml").read_text().replace("norm: ln", f"norm: {norm!r}")
    tests = changes.get("tests", comparisons(norm))
    study = Study({key: of.claim for key, of in evidence().items()}, yaml.safe_load(source))
    compared, drawn = paper(CELLS).assign(difference=1.0), [picture("accuracy of the record")]
    record = Record(study, comparisons(norm).assign(n=8), compared, {1: numbers(norm)[1]}, drawn)
    shown = {
        "params": yaml.safe_load(source),
        "source": source,
        "evidence": evidence(),
        "tests": tests,
        "paper": paper(CELLS),
        "explained": explained(),
        "interventions": shares(),
        "tables": numbers(norm, tests=tests),
        "pictures": {name: picture(name) for name in NAMES},
        "records": dict.fromkeys(("record", "other"), record),
    }
    return Results(**shown | changes)
