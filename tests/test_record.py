import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def checkout(tmp_path):
    """What `stages.record` reads, with a few results."""
    for name in ("src", "stages"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests/smoke.yaml", tmp_path / "params.yaml")
    for name in ("metrics/paper.json", "metrics/tables/table1.md", "plots/figure3.csv", "plots/loss.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    return tmp_path


def record(checkout, *arguments):
    command = [sys.executable, "-m", "stages.record", *arguments]
    return subprocess.run(command, cwd=checkout, check=False, capture_output=True, text=True)


def test_results_are_kept_with_what_made_them(checkout):
    done = record(checkout, "some-scale", "--minutes", "7.5", "--note", "short")
    assert done.returncode == 0, done.stderr
    kept = checkout / "metrics/some-scale"
    files = {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()}
    assert files == {"paper.json", "tables/table1.md", "figure3.csv", "params.yaml", "provenance.json"}
    assert (kept / "tables/table1.md").read_text() == "metrics/tables/table1.md\n"
    assert (kept / "params.yaml").read_text() == (checkout / "params.yaml").read_text()
    provenance = json.loads((kept / "provenance.json").read_text())
    assert (provenance["minutes"], provenance["seeds"], provenance["note"]) == (7.5, 2, "short")
    assert {"device", "cores", "versions", "revision"} <= provenance.keys()


@pytest.mark.parametrize("name", ["../out", "tables", "Paper", ""])
def test_a_name_that_is_no_folder_of_metrics_is_refused(checkout, name):
    done = record(checkout, name, "--minutes", "1")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
