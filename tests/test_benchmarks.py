"""That every way of the benchmark works; how long anything takes is no test."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.run import Measurement, measurements, records, table
from benchmarks.workload import Workload

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "benchmarks/README.md"
TRAIN = Workload("train", "dictionary", 6, 2, 2)
EVALUATE = Workload("evaluate", "argmax", 40, 2, 3)


@pytest.mark.parametrize(
    ("way", "work"),
    [
        ("plain", TRAIN),
        *((way, Workload("train", "dictionary", 6, 2, 210)) for way in ("ours", "ours, nothing compiled")),
        *((way, EVALUATE) for way in ("plain", "ours")),
        *(pytest.param("vmap", work, marks=pytest.mark.slow) for work in (TRAIN, EVALUATE)),
        ("OpenBLAS", Workload("product", "", 0, 1, 0)),
    ],
)
def test_a_way_can_be_measured(way, work):
    command = [sys.executable, "-m", "benchmarks.measure", way, json.dumps(vars(work))]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["value"] > 0
    assert found["memory"] > 0


def test_values_are_medians_and_ratios_are_to_the_plain_way_of_the_same_benchmark_and_seeds():
    def rounds(*values):
        return [{"value": value, "memory": 10 * value} for value in values]

    one, two = Workload("train", "argmax", 16, 1, 5), Workload("train", "argmax", 16, 8, 5)
    tested = Workload("evaluate", "argmax", 64, 1, 5)
    found = {
        Measurement("train", "plain", one): rounds(9.0, 1.0, 8.0),
        Measurement("train", "ours", one): rounds(2.0),
        Measurement("train", "ours", two): rounds(2.0),
        Measurement("train", "vmap", one): [],
        Measurement("test", "ours", tested): rounds(3.0),
    }
    made = records(found)
    assert [(row["value"], row["ratio_to_plain"]) for row in made] == [
        *((8.0, 1.0), (2.0, 4.0), (2.0, None)),
        *((3.0, None), (30.0, None)),
    ]
    assert made[-1]["unit"] == "MiB over the idle process"
    assert set(made[0]) == {"benchmark", "way", "seeds", "value", "unit", "ratio_to_plain"}
    assert table(made).splitlines()[3] == "| train | ours | 1 | 2 | ms a step and seed | 4x |"


def test_every_benchmark_has_its_plain_way_first():
    seen = set()
    for what in measurements():
        key = what.benchmark, what.work.seeds
        assert (what.way == "plain") == (key not in seen), what
        seen.add(key)
    assert len(seen) == 2 + 2 * 2 * 2 + 1 + 6 * 2


def test_the_readme_shows_rows_of_a_committed_run():
    rows = set()
    for path in (ROOT / "benchmarks/results").glob("*.json"):
        rows |= set(table(json.loads(path.read_text())["records"]).splitlines()[2:])
    shown = re.findall(r"^\| (?:train|evaluate|product|copy) .*$", README.read_text(), re.MULTILINE)
    assert len(shown) > 20
    assert set(shown) <= rows
