"""Missing and wrong files, and a stage that reads each: one line names the file, and nothing is touched."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from scripts import ONE, ROOT
from small import in_arrays

from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.arrays import read_arrays, write_arrays
from vanishing_variance.harness.yaml import read_yaml

WEIGHTS = Path("runs/trained/softmax/ln/short/argmax-0/weights.safetensors")
CLAIMS = Path("metrics/claims.json")
STAGES = {WEIGHTS: ("evaluate", *ONE), CLAIMS: ("report.readme",)}


@pytest.fixture
def _files(refused):
    """Each of the files, in the current folder; the models are not trained."""
    shutil.copy(ROOT / "tests/smoke.yaml", "params.yaml")
    params = read_yaml(Path("params.yaml"))
    initial = Variant.of(params, "argmax", "ln").initial(task_training(params, "argmax"))
    write_arrays(WEIGHTS, in_arrays(draw(initial, 0, "argmax", [0, 1])))
    CLAIMS.parent.mkdir()
    shutil.copy(ROOT / "studies/paper-scale/claims.json", CLAIMS)


def without_a_seed(path):
    write_arrays(path, {name: array[:1] for name, array in read_arrays(path).items()})


def not_finite(path):
    write_arrays(path, {name: array * np.nan for name, array in read_arrays(path).items()})


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(
    ("path", "damage", "why"),
    [
        *((path, Path.unlink, "No such file") for path in STAGES),
        (WEIGHTS, without_a_seed, "holds other weights than params.yaml describes"),
        (WEIGHTS, not_finite, "holds weights that are not finite"),
    ],
)
def test_a_damaged_file_is_refused(refused, path, damage, why):
    damage(path)
    said = refused(*STAGES[path])
    assert said.startswith(f"error: {path}: ")
    assert why in said
