"""That every way of the benchmark works; how long anything takes is no test."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from benchmarks import choices, learning_curve
from benchmarks.run import Measurement, measurements, records, table
from benchmarks.workload import Workload
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.model.initialisation import draw
from vanishing_variance.parameters import check
from vanishing_variance.training import loop as training

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


def test_choices_are_tabled_with_their_distance_from_the_paper():
    lengths, theirs = [16, 16384], {"argmax-short": [99.6, 20.8], "dictionary-long": [None, 77.8]}
    rows = pd.DataFrame(
        [
            (series, change, 10, length, 8, (paper or 50.0) + off, 0.0, 0.0)
            for series in theirs
            for change, off in (("nothing", 1.0), ("model.gelu=tanh", -3.0))
            for length, paper in zip(lengths, theirs[series], strict=True)
        ],
        columns=["series", "change", "steps", "length", "n", "mean", "low", "high"],
    )
    text = choices.markdown(rows)
    assert "| changed | 2^4 | 2^14 | from the paper's (pp) |" in text
    assert "| nothing | 100.6 | 21.8 | 1.0 |" in text
    assert "| model.gelu=tanh | 96.6 | 17.8 | 3.0 |" in text
    assert "| paper | 99.6 | 20.8 |  |" in text
    assert "| nothing | 51.0 | 78.8 | 1.0 |" in text
    assert "| paper | – | 77.8 |  |" in text


def test_every_choice_is_valid_and_changes_something():
    stages = subprocess.run(
        ["dvc", "stage", "list", "--name-only"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for series in choices.CHOICES.values():
        assert series.stage in stages.stdout.split()
        for change in series.changes:
            params = read_yaml(ROOT / "params.yaml")
            key, _, value = change.partition("=")
            *sections, last = key.split(".")
            section = params
            for name in sections:
                section = section[name]
            assert section[last] != yaml.safe_load(value), change
            section[last] = yaml.safe_load(value)
            check(params)


def test_the_learning_curve_tests_the_models_that_so_many_steps_make(monkeypatch):
    monkeypatch.setattr(learning_curve, "LENGTHS", (16, 64))
    plan, short = (learning_curve._plan("ln", steps) for steps in (200, 100))
    found = learning_curve._curve(plan, range(1), [100, 200], lambda done: None)
    weights = draw(short.variant.initial(short.task_training), short.root_seed, "argmax", [0])
    training.train(short, weights, [0])
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    expected = learning_curve.tested(short, arrays, range(1), 100)
    assert found[found["steps"] == 100].reset_index(drop=True).equals(expected)
    assert not np.array_equal(found[found["steps"] == 200]["accuracy"], expected["accuracy"])


def test_the_learning_curves_table_has_the_distance_from_the_paper_and_the_gain():
    paper = {"none": {16: 99.6, 16384: 20.8}, "ln": {16: 99.6, 16384: 22.6}}
    rows = [
        (steps, norm, seed, "plain", length, (value + away + seed * slope) / 100)
        for steps, away in ((100, 2.0), (200, 0.0))
        for (norm, values), slope in zip(paper.items(), (0.1, 0.2), strict=True)
        for length, value in values.items()
        for seed in (-1, 0, 1)
    ]
    adaptive = [(*row[:3], "adaptive", *row[4:]) for row in rows]
    text = learning_curve.markdown(pd.DataFrame(rows + adaptive, columns=learning_curve.COLUMNS))
    assert "n = 3 seeds" in text
    assert re.search(r"\| 200 \| [\d.]+ \| \+1\.8 \[\+1\.6, \+2\.0\] \| 1 \| \+1\.8 \[", text)
