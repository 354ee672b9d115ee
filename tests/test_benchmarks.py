"""That every way of the benchmark works; how long anything takes is no test."""

import json
import re

import pandas as pd
import pytest
from checkout import ROOT

from benchmarks import clock, measure
from benchmarks.workload import Workload
from vanishing_variance.engine import adam
from vanishing_variance.engine.kernels import attend, matmul

TRAIN, EVALUATE = Workload("train", "argmax", 6, 2, 2), Workload("evaluate", "argmax", 40, 2, 3)
REPORTED_TWICE = Workload("train", "argmax", 6, 2, 210)
SLOW = [("ours, nothing compiled", REPORTED_TWICE), ("vmap", TRAIN), ("vmap", EVALUATE)]


@pytest.mark.trains
@pytest.mark.parametrize(
    ("way", "work"),
    [
        *(("plain", TRAIN), ("ours", REPORTED_TWICE), ("plain", EVALUATE), ("ours", EVALUATE)),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in SLOW),
    ],
)
def test_a_way_can_be_measured(monkeypatch, capsys, way, work):
    monkeypatch.setattr(clock, "SECONDS", 0.0)
    monkeypatch.setenv("PYTHON_CPU_COUNT", "1")
    monkeypatch.setattr("sys.argv", ["measure", way, json.dumps(vars(work))])
    for module in (attend, matmul, adam):
        monkeypatch.setattr(module, "library", module.library)  # to be put back
    measure.main()
    assert float(capsys.readouterr().out) > 0


def test_the_readme_shows_ratios_of_committed_runs():
    text = (ROOT / "benchmarks/README.md").read_text()
    rows = re.findall(r"^\| ((?:train|evaluate).*?) \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for column, device in enumerate(("intel-r-xeon-r-processor", "amd-epyc"), start=1):
        stored = json.loads((ROOT / f"benchmarks/results/{device}-2-cores.json").read_text())
        measured = pd.DataFrame(stored["records"]).query("way == 'ours' and seeds == 8 and unit.str.startswith('ms')")
        ratios = measured.set_index("benchmark")["ratio_to_plain"]
        for row in rows:
            assert float(row[column]) == ratios[row[0].replace("16,384", "16384")]
