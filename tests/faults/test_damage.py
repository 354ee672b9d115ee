"""One damaged file of each format, and a stage that reads it: one line names the file, and nothing is touched."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scripts import ONE, ROOT
from small import in_arrays

from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.arrays import read_arrays, write_arrays
from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.files import read_json, write_json
from vanishing_variance.harness.frames import read_csv, read_frame, write_csv, write_frame
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.inference.temperature import UNCHANGED, frame

WEIGHTS = Path("runs/trained/ln/short/argmax-0/weights.safetensors")
TEMPERATURES = Path("runs/temperature/ln/short/argmax-0/temperatures.parquet")
DEVIATIONS = Path("plots/figure1.csv")
CLAIMS = Path("metrics/claims.json")
STAGES = {
    WEIGHTS: ("temperature", *ONE),
    TEMPERATURES: ("evaluate", *ONE),
    DEVIATIONS: ("figure1",),
    CLAIMS: ("readme",),
}


@pytest.fixture
def files(refused):
    """Each of the files, in the current folder; the models are not trained."""
    shutil.copy(ROOT / "tests/smoke.yaml", "params.yaml")
    params = read_yaml(Path("params.yaml"))
    initial = Variant.of(params, "argmax", "ln").initial(task_training(params, "argmax"))
    write_arrays(WEIGHTS, in_arrays(draw(initial, 0, "argmax", [0, 1])))
    write_frame(TEMPERATURES, frame({"first": (UNCHANGED, 0), "second": (UNCHANGED, 0)}))
    write_csv(DEVIATIONS, pd.DataFrame([range(len(CSV["figure1"]))], columns=CSV["figure1"]))
    CLAIMS.parent.mkdir()
    shutil.copy(ROOT / "metrics/paper-scale/claims.json", CLAIMS)


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-10])


def flip_a_bit(path):
    """In text the first one of a byte, which makes it no text: its numbers have no checksum but in dvc.lock."""
    content = bytearray(path.read_bytes())
    content[-10] ^= 1 << 7
    path.write_bytes(content)


def without_a_column(path):
    read, write = (read_frame, write_frame) if path.suffix == ".parquet" else (read_csv, write_csv)
    write(path, read(path).iloc[:, 1:])


def without_a_seed(path):
    write_arrays(path, {name: array[:1] for name, array in read_arrays(path).items()})


def with_another_array(path):
    write_arrays(path, read_arrays(path) | {"other": np.zeros(2, dtype=np.float32)})


def not_finite(path):
    write_arrays(path, {name: np.full_like(array, np.nan) for name, array in read_arrays(path).items()})


def without_a_key(path):
    claims = read_json(path)
    del next(iter(claims.values()))["verdict"]
    write_json(path, claims)


@pytest.mark.parametrize(
    ("path", "damage", "why"),
    [
        *((path, Path.unlink, "No such file") for path in STAGES),
        *((path, cut_off, "cannot be read as") for path in STAGES),
        *((path, flip_a_bit, "its checksum does not fit") for path in (WEIGHTS, TEMPERATURES)),
        *((path, flip_a_bit, "codec can't decode") for path in (DEVIATIONS, CLAIMS)),
        (WEIGHTS, without_a_seed, ", must be float32 (2, "),
        (WEIGHTS, with_another_array, "holds other, which does not belong there"),
        (WEIGHTS, not_finite, "with numbers that are not finite"),
        (TEMPERATURES, without_a_column, "it has no column half"),
        (DEVIATIONS, without_a_column, "it has no column model"),
        (CLAIMS, without_a_key, "verdict is missing"),
    ],
)
def test_a_damaged_file_is_refused(files, refused, path, damage, why):
    damage(path)
    said = refused(*STAGES[path])
    assert said.startswith(f"error: {path}: ")
    assert why in said
