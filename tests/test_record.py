import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


ACCURACY = "task,range,norm,seed,temperature,length,accuracy\n" + "".join(
    f"argmax,short,none,{seed},plain,16,0.5\n" for seed in (0, 1)
)
MEANS = "task,temperature,norm,length,n,mean,low,high\n" + "".join(
    f"argmax,plain,none,{length},2,50,40,60\n" for length in (16, 64)
)
FILES = (
    "metrics/paper.json",
    "metrics/claims.md",
    "metrics/choices.csv",
    "metrics/tables/table1.md",
    "metrics/tables/table4.md",
)
PLOTTED = ("plots/accuracy-long.csv", "plots/figure1.csv", "plots/figure3.csv", "plots/loss.csv")


@pytest.fixture
def checkout(tmp_path):
    """What `stages.record` reads, with a few results of the short range, and others of a former run."""
    for name in ("src", "stages"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests/smoke.yaml", tmp_path / "params.yaml")
    for name in (*FILES, *PLOTTED, "metrics/some-scale/old.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "metrics/accuracy.csv").write_text(ACCURACY)
    (tmp_path / "plots/accuracy.csv").write_text(MEANS)
    (tmp_path / "metrics/mechanism.csv").write_text("seed,accuracy\n0,0.5\n1,0.5\n")
    return tmp_path


def record(checkout, *arguments):
    command = [sys.executable, "-m", "stages.record", *arguments]
    return subprocess.run(command, cwd=checkout, check=False, capture_output=True, text=True)


def test_results_are_kept_with_what_made_them(checkout):
    done = record(checkout, "some-scale", "--minutes", "7.5", "--note", "short")
    assert done.returncode == 0, done.stderr
    kept = checkout / "metrics/some-scale"
    files = {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()}
    results = {
        "accuracy.csv",
        "mechanism.csv",
        "claims.md",
        "paper.json",
        "tables/table1.md",
        *(f"plots/accuracy.{kind}" for kind in ("csv", "png", "svg")),
        *("plots/figure1.csv", "plots/figure3.csv"),
    }
    assert files == {*results, "params.yaml", "provenance.json"}
    assert (kept / "accuracy.csv").read_text() == ACCURACY
    assert (kept / "plots/accuracy.csv").read_text() == MEANS
    assert (kept / "tables/table1.md").read_text() == "metrics/tables/table1.md\n"
    assert (kept / "params.yaml").read_text() == (checkout / "params.yaml").read_text()
    provenance = json.loads((kept / "provenance.json").read_text())
    assert [provenance[key] for key in ("minutes", "seeds", "ranges", "note")] == [7.5, 2, ["short"], "short"]
    assert {"device", "cores", "versions", "revision"} <= provenance.keys()


def test_the_inside_of_another_runs_models_is_refused(checkout):
    (checkout / "metrics/mechanism.csv").write_text("seed,accuracy\n0,0.5\n1,0.75\n")
    done = record(checkout, "some-scale", "--minutes", "1")
    assert done.returncode == 2
    assert done.stderr == "error: metrics/mechanism.csv: is of another run than accuracy.csv; run dvc repro\n"


@pytest.mark.parametrize("name", ["../out", "tables", "Paper", ""])
def test_a_name_that_is_no_folder_of_metrics_is_refused(checkout, name):
    done = record(checkout, name, "--minutes", "1")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


def test_results_of_other_parameters_are_refused_and_nothing_is_lost(checkout):
    path = checkout / "params.yaml"
    path.write_text(path.read_text().replace("seeds_per_block: 2", "seeds_per_block: 3"))
    done = record(checkout, "some-scale", "--minutes", "1")
    assert (done.returncode, done.stderr) == (
        2,
        "error: metrics/accuracy.csv: its seeds are not those of params.yaml; run dvc repro\n",
    )
    assert (checkout / "metrics/some-scale/old.csv").exists()


def test_a_record_is_judged_and_drawn_again_where_it_is(tmp_path):
    for name in ("reference", "metrics/paper-scale"):
        shutil.copytree(ROOT / name, tmp_path / name)
    kept = tmp_path / "metrics/paper-scale"
    for name in ("claims.json", "verdicts.json", "plots/accuracy.svg"):
        (kept / name).write_text("damaged")
    params = kept / "params.yaml"
    params.write_text(params.read_text().replace("steps: 100000", "steps: 20000"))
    raw = (kept / "accuracy.csv").read_text()
    command = [sys.executable, "-m", "stages.record", "paper-scale", "--again"]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=here, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    claim = json.loads((kept / "claims.json").read_text())["argmax"]
    assert (claim["verdict"], claim["steps"]) == ("not comparable (undertrained)", {"argmax": 20000})
    assert json.loads((kept / "verdicts.json").read_text())["not_comparable"] > 0
    assert (kept / "plots/accuracy.svg").read_text().startswith("<?xml")
    assert (kept / "accuracy.csv").read_text() == raw
    assert not (tmp_path / "metrics/claims.json").exists()


def test_minutes_are_a_number(checkout):
    done = record(checkout, "some-scale", "--minutes", "nan")
    assert done.returncode == 2
    assert "--minutes: nan must be a positive number" in done.stderr
