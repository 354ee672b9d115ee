import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from finished import ROOT, stage, variant

from vanishing_variance.core.arrays import read_arrays, write_arrays
from vanishing_variance.core.frames import read_frame, write_frame

# Of every kind of file that a stage reads, the last one: what comes before it is whole.
WEIGHTS, LAST = "runs/trained/ln/short/dictionary-0/weights.safetensors", "ln/long/dictionary-0"
PIECE = "runs/pieces/dictionary-long-ln-0-1"
FITTED = "runs/temperature/ln/short/dictionary-0/temperatures.parquet"
READ = {
    "temperature": [WEIGHTS],
    "evaluate": [
        WEIGHTS,
        "runs/temperature/ln/short/dictionary-0/temperatures.parquet",
        "data/dictionary/00000016.safetensors",
    ],
    "ttest": [
        *(f"runs/evaluated/{LAST}/accuracy.parquet", f"runs/evaluated/{LAST}/answers.safetensors"),
        f"runs/evaluated/{LAST}/temperatures.parquet",
    ],
    "mechanism": [f"runs/evaluated/{LAST}/mechanism.parquet", f"runs/evaluated/{LAST}/accuracy.parquet"],
    "capacity": [WEIGHTS, "data/dictionary/00000016.safetensors"],
    "causes": ["runs/interventions/counts.parquet"],
    "interventions": [WEIGHTS, "data/dictionary/00000016.safetensors"],
    "proposition": [WEIGHTS],
    "figures": [
        *(f"runs/evaluated/ln/short/argmax-0/{name}.parquet" for name in ("moments", "features", "attention")),
        *(f"runs/trained/{LAST}/losses.parquet", "metrics/accuracy.csv"),
        *("plots/proposition/proposition.csv", "plots/proposition/proposition-exponents.csv"),
    ],
    "figure1": ["plots/figure1.csv"],
    "claims": [
        *("metrics/accuracy.csv", "metrics/capacity.json", "metrics/mechanism.csv"),
        *(
            "plots/figures/figure1/figure1-fits.csv",
            "plots/data/loss.csv",
            "plots/proposition/proposition-exponents.csv",
            "runs/interventions/accuracy.parquet",
        ),
    ],
    "report": [
        *("metrics/claims.json", "metrics/explained.csv", "metrics/tables/paper.csv", "metrics/tables/tests.csv"),
        "metrics/tables/table5.csv",
        *("plots/figures/results/proposition.svg", "metrics/paper-scale/claims.json"),
        "metrics/without-biases/tables/paper.csv",
        "metrics/velickovic/tables/paper.csv",
        "metrics/interventions/shares.csv",
    ],
    "record": [f"{PIECE}/{name}" for name in ("piece.json", "accuracy.csv", "mechanism.csv")],
}
ARGUMENTS = {
    **dict.fromkeys(("train", "temperature", "evaluate"), variant("dictionary", "short", "ln")),
    "generate": ("--task", "dictionary"),
    "record": ("some-scale", PIECE),
}
WITH_PARAMETERS = ("check", "train", "generate", *(name for name in READ if name != "figure1"))
PAIRS = [(name, path) for name, paths in READ.items() for path in paths]


def test_every_kind_of_file_that_a_stage_declares_is_damaged_here():
    def kind(path):
        parts = Path(path).parts
        return parts[0] if parts[0] == "data" else "/".join(parts[:2]).rpartition("-0")[0] or "/".join(parts[:2])

    def pictures(path):
        return "plots/figures/results/proposition.svg" if path.endswith(".svg") else path

    own = ("src", "stages", "params.yaml", "runs/checked")
    for name, declared in yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"].items():
        read = {kind(pictures(path)) for path in declared["deps"] if not path.startswith(own)}
        assert read == {kind(path) for path in READ.get(name.removesuffix("-long"), [])}, name


def refused(finished_run, name, path):
    """The stage refuses the file in one line, and leaves everything as it is."""
    before = finished_run.state()
    code, said = stage(name, *ARGUMENTS.get(name, ()))
    assert code == 2, said
    assert said.startswith(f"error: {path}: "), said
    assert said.count("\n") == 1, said
    assert said.endswith("\n")
    assert finished_run.state() == before


@pytest.mark.parametrize(("name", "path"), [*PAIRS, *((name, "params.yaml") for name in WITH_PARAMETERS)])
def test_a_file_that_is_not_there_or_empty_or_a_directory_is_one_line(finished_run, tried, name, path):
    file = Path(path)
    with tried("a file is missing"):
        file.unlink()
        refused(finished_run, name, path)
    with tried("a directory in a file's place"):
        file.mkdir()
        refused(finished_run, name, path)
    file.rmdir()
    if path != "constraints.txt":
        with tried("a file is empty"):
            file.write_bytes(b"")
            refused(finished_run, name, path)
    with tried("a file is not text, or not what it was"):
        file.write_bytes(b"\xff\x00 nothing of the kind\n")
        refused(finished_run, name, path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "path"), [pair for pair in PAIRS if pair[1] != "constraints.txt"])
def test_a_file_that_is_cut_off_anywhere_is_one_line(finished_run, tried, name, path):
    whole = finished_run.whole[path]
    for size in (1, len(whole) // 4, len(whole) // 2, 3 * len(whole) // 4, len(whole) - 1):
        if path.endswith(("json", "svg")) and size == len(whole) - 1:
            continue  # nothing is lost but the line's end
        # How many lines a CSV should have, only dvc.lock and git know.
        begun = whole[:size].rstrip(b"\r\n") if path.endswith("csv") else whole[:size]
        with tried("a file is cut off"):
            Path(path).write_bytes(begun)
            refused(finished_run, name, path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "path"), PAIRS)
def test_a_flipped_bit_is_one_line(finished_run, tried, name, path):
    """Any of arrays and parquet; of text one that makes it no text: its numbers have no checksum but in dvc.lock."""
    whole, binary = finished_run.whole[path], path.endswith(("safetensors", "parquet"))
    for place in np.linspace(0, len(whole) - 1, 8).astype(int):
        with tried("a bit is flipped"):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << (place % 8 if binary else 7)
            Path(path).write_bytes(damaged)
            refused(finished_run, name, path)


def other_arrays(path):
    arrays = read_arrays(path)
    name, array = list(arrays.items())[-1]
    yield {key: one for key, one in arrays.items() if key != name}
    yield arrays | {"other": array}
    yield arrays | {name: array[..., :-1]}
    yield arrays | {name: array.astype(np.float16)}
    yield arrays | {name: array.reshape(-1)[:1].reshape(())}
    yield {key: one[:-1] for key, one in arrays.items()} if "weights" in str(path) else {}
    if array.dtype == np.float32:
        yield arrays | {name: np.full_like(array, np.nan)}


@pytest.mark.parametrize(("name", "path"), [pair for pair in PAIRS if pair[1].endswith("safetensors")])
def test_arrays_of_the_wrong_names_types_or_shapes_are_one_line(finished_run, tried, name, path):
    for arrays in list(other_arrays(Path(path))):
        with tried("arrays of the wrong shape"):
            write_arrays(Path(path), arrays)
            refused(finished_run, name, path)


@pytest.mark.parametrize(("name", "path"), [pair for pair in PAIRS if pair[1].endswith(("csv", "parquet"))])
def test_a_frame_without_a_column_is_one_line(finished_run, tried, name, path):
    parquet = path.endswith("parquet")
    whole = read_frame(Path(path)) if parquet else pd.read_csv(path, keep_default_na=False)
    needed = ["accuracy"] if name == "record" else ["length"] if "length" in whole else [whole.columns[0]]
    for columns in (needed, list(whole.columns)):
        with tried("a frame without a column"):
            frame = whole.drop(columns=columns) if len(columns) < len(whole.columns) else pd.DataFrame({"x": [1]})
            (write_frame if parquet else lambda to, frame: to.write_text(frame.to_csv(index=False)))(Path(path), frame)
            refused(finished_run, name, path)


@pytest.mark.parametrize(("name", "path"), [pair for pair in PAIRS if pair[1].endswith("csv")])
def test_text_among_the_numbers_of_a_csv_is_one_line(finished_run, tried, name, path):
    lines = finished_run.whole[path].decode().splitlines()
    numbers = [place for place, value in enumerate(lines[-1].split(",")) if value.replace(".", "").isdigit()]
    values = lines[-1].split(",")
    values[numbers[0]] = "0.5x"
    for last in (",".join(values), lines[-1] + ",7", "<<<<<<< HEAD"):
        with tried("a line of a CSV is not one"):
            Path(path).write_text("\n".join([*lines[:-1], last, ""]))
            refused(finished_run, name, path)


@pytest.mark.parametrize(("name", "path"), [pair for pair in PAIRS if pair[1].endswith("json")])
def test_a_document_of_another_kind_is_one_line(finished_run, tried, name, path):
    document = json.loads(finished_run.whole[path])
    inner = document if "parameters" in document else document[next(iter(document))]
    first, value = next(iter(inner.items()))
    for other in (None, {}, []):
        inner[first] = other
        with tried("a document of another kind"):
            Path(path).write_text(json.dumps(document))
            refused(finished_run, name, path)
    inner.pop(first)
    with tried("a document of another kind"):
        Path(path).write_text(json.dumps(document))
        refused(finished_run, name, path)
    inner[first] = value
    for whole in ("[]", "7", "null"):
        with tried("a document of another kind"):
            Path(path).write_text(whole)
            refused(finished_run, name, path)
