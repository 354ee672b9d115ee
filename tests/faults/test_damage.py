"""Missing and damaged files, and a stage that reads each: one line names the file, and nothing is touched."""

import shutil
from pathlib import Path

import pytest
from scripts import ONE, ROOT

WEIGHTS = Path("runs/trained/softmax/ln/short/argmax-0/weights.safetensors")
CLAIMS = Path("metrics/claims.json")
STAGES = {WEIGHTS: ("evaluate", *ONE), CLAIMS: ("report.readme",)}


@pytest.mark.parametrize("path", STAGES)
@pytest.mark.parametrize("content", [None, b"cut"])
def test_a_missing_or_damaged_file_is_refused(refused, path, content):
    shutil.copy(ROOT / "tests/smoke.yaml", "params.yaml")
    if content:
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    assert refused(*STAGES[path]).startswith(f"error: {path}: ")
