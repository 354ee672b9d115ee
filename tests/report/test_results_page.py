import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from vanishing_variance.core.errors import InputError
from vanishing_variance.report.results import RECORD, Numbers, render

ROOT = Path(__file__).resolve().parents[2]
TWO = """# Both

**first**

|  | 2^4 |
| --- | --: |
| none | 1.0 |
| p | 0.5 |
| none | 3.0 |

**second**

|  | 2^4 |
| --- | --: |
| none | 2.0 |

| another | table |
"""
CLAIM = {"ours": 5.537, "low": 2.815, "high": 8.259}
PIECES = """task,range,norm,first_seed,last_seed
argmax,short,none,16,23
argmax,short,none,0,7
argmax,short,none,24,31
argmax,short,ln,8,15
argmax,long,none,8,15
"""


def numbers(**files):
    texts = {f"folder/{name.replace('__', '.')}": text for name, text in files.items()}

    def read(name):
        if name not in texts:
            raise InputError(name)
        return texts[name]

    return Numbers(read, "folder/")


def test_a_table_is_the_first_below_its_heading():
    of = numbers(both__md=TWO)
    assert of.table("folder/both.md", ["none"]) == "|  | 2^4 |\n| --- | --: |\n| none | 1.0 |"
    assert of.table("folder/both.md", section="**second**") == "|  | 2^4 |\n| --- | --: |\n| none | 2.0 |"
    assert of.missing == []


def test_a_table_or_row_that_is_not_there_is_left_out_and_named():
    of = numbers(both__md=TWO)
    assert of.table("folder/both.md", ["p", "none"], "**second**") == "|  | 2^4 |\n| --- | --: |\n| none | 2.0 |"
    assert of.table("folder/both.md", section="**third**") == "–"
    assert of.table("folder/none.md") == "–"
    assert of.missing == ["folder/both.md: p", "folder/both.md: **third**", "folder/none.md: "]


@pytest.mark.parametrize(
    ("name", "text", "ask", "said"),
    [
        ("claims__json", "{}", lambda of: of.claim("argmax"), r"^folder/claims.json: argmax cannot be read: KeyError"),
        (
            "claims__json",
            '{"argmax": ',
            lambda of: of.claim("argmax"),
            r"^folder/claims.json: argmax cannot be read: JSOND",
        ),
        (
            "accuracy__csv",
            "<<<<<<< HEAD\nseed,accuracy\n1,0.5\n",
            lambda of: of.frame("folder/accuracy.csv"),
            r"^folder/accuracy.csv: cannot be read as CSV: line 2 has 2 values, the first has 1; git checkout it",
        ),
    ],
)
def test_a_damaged_file_is_named(name, text, ask, said):
    with pytest.raises(InputError, match=said):
        ask(numbers(**{name: text}))


def test_a_gain_has_its_interval_and_what_was_not_tested_has_a_dash():
    claims = {"tested": CLAIM, "no interval": CLAIM | {"low": None}, "not tested": dict.fromkeys(CLAIM)}
    of = numbers(claims__json=json.dumps(claims))
    assert of.gain("tested") == "+5.5 [2.8, 8.3]"
    assert of.gain("no interval") == "+5.5"
    assert of.gain("not tested") == "–"


def test_a_task_that_the_record_does_not_have_yet_has_no_gain_in_the_table_of_networks():
    def read(name):
        text = (ROOT / name).read_text()
        if name != f"{RECORD}claims.json":
            return text
        claims = json.loads(text)
        claims["dictionary"] |= dict.fromkeys(("ours", "low", "high", "n", "size", "paper"))
        return json.dumps(claims)

    lines = render(Numbers(read, RECORD)).splitlines()
    mine, papers = (
        next(line for line in lines if line.startswith(name)) for name in ("| this study's", "| the paper's")
    )
    assert mine.split(" | ")[2] == "not in this record"
    assert papers.split(" | ")[2] == "–"


def test_seeds_that_follow_each_other_are_one_range():
    assert numbers(pieces__csv=PIECES).seeds("argmax") == "0 to 7 and 16 to 31"


def test_numbers_are_those_of_the_files_of_this_checkout():
    """Computed from what they are ratios of, in another way."""
    root = Path(__file__).resolve().parents[2]
    of = Numbers(lambda name: (root / name).read_text(), "metrics/without-biases/")
    inside = of.frame("metrics/without-biases/mechanism.csv")
    longest = inside[(inside.task == "argmax") & (inside.norm == "none") & (inside.length == 2**14)]
    kept = [
        after / before for after, before in zip(longest.variance_before, longest.trained_variance_before, strict=True)
    ]
    assert of.variance_kept("metrics/without-biases/", "argmax") == f"{sum(kept) / len(kept):.0%}"
    accuracy = of.frame("metrics/without-biases/accuracy.csv")
    rows = accuracy[(accuracy.task == "argmax") & (accuracy.norm == "ln") & (accuracy.length > 16)]
    plain, adaptive = (rows[rows.temperature == name]["accuracy"].mean() for name in ("plain", "adaptive"))
    assert of.temperature_adds("argmax", "ln") == f"{100 * (adaptive - plain):.1f}"
    paper = json.loads(of.read("metrics/without-biases/tables/paper.json"))
    assert of.distance(1) == f"{paper['table1']['mean_absolute_difference']:.1f}"


def test_a_gain_is_compared_with_another_records_on_the_seeds_of_both():
    rows = [
        (norm, seed, temperature, length, 0.5 + gain * (norm == "ln") * (length > 16) * (temperature == "plain"))
        for seed, gain in enumerate((0.1, 0.3, 0.2, 0.6))
        for norm in ("none", "ln")
        for temperature in ("plain", "adaptive")
        for length in (16, 32, 64)
    ]
    head = "task,range,norm,seed,temperature,length,accuracy\n"
    record = head + "".join(f"argmax,short,{','.join(map(str, row))}\n" for row in rows)
    other = head + "".join(f"argmax,short,{','.join(map(str, (*row[:4], 0.5)))}\n" for row in rows if row[1] > 0)
    of = Numbers({"folder/accuracy.csv": record, "other/accuracy.csv": other}.__getitem__, "folder/")
    low, high = stats.t.interval(0.95, 2, np.mean([30, 20, 60]), stats.sem([30, 20, 60]))
    assert of.gains_more("argmax", "other/") == f"+36.7 [{low:.1f}, {high:.1f}] on the same 3 seeds".replace("-", "−")
    assert of.gains_more("dictionary", "other/") == "–"
    assert of.temperature_adds("dictionary", "ln") == "–"
