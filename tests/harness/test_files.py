"""Every format: a file appears only when it is whole, has the same bytes each time, and damage to it is noticed."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scripts import no_file_above

from vanishing_variance.harness.arrays import read_about, read_arrays, read_parts, write_arrays
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_document, write_json, write_text
from vanishing_variance.harness.frames import read_csv, read_frame, tidied, widened, write_csv, write_frame

MANY = np.random.default_rng(0).random(40_000)  # 320 kB, which no format makes small


# By suffix: write so many numbers.
WRITE = {
    "safetensors": lambda path, size: write_arrays(path, {"x": MANY[:size], "y": MANY[:size]}),
    "parquet": lambda path, size: write_frame(path, pd.DataFrame({"x": MANY[:size]})),
    "csv": lambda path, size: write_csv(path, pd.DataFrame({"x": MANY[:size]})),
    "json": lambda path, size: write_json(path, {"x": MANY[:size].tolist()}),
    "html": lambda path, size: write_text(path, "x" * 8 * size),
}
READ = [
    *(("safetensors", read) for read in (read_arrays, read_about, lambda path: list(read_parts(path, 3)))),
    *(("parquet", read_frame), ("csv", read_csv), ("json", read_document)),
]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("suffix", WRITE)
def test_a_write_that_finds_no_room_keeps_the_former_file(tmp_path, suffix):
    path = tmp_path / f"file.{suffix}"
    WRITE[suffix](path, 10)
    before = contents(tmp_path)
    with (
        no_file_above(100_000),
        pytest.raises(InputError, match=rf"file\.{suffix}: cannot be written: File too large; make room"),
    ):
        WRITE[suffix](path, len(MANY))
    assert contents(tmp_path) == before


@pytest.mark.parametrize(("suffix", "read"), READ)
def test_a_file_that_is_missing_a_directory_or_cut_off_is_named(tmp_path, suffix, read):
    path = tmp_path / "file"

    def refused():
        with pytest.raises(InputError, match="(?i)file: cannot be read as " + suffix):
            read(path)

    refused()
    path.mkdir()
    refused()
    path.rmdir()
    WRITE[suffix](path, 10)
    whole = path.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 2):
        path.write_bytes(whole[:size])
        refused()


@pytest.mark.parametrize(("suffix", "read", "every"), [("safetensors", read_arrays, 29), ("parquet", read_frame, 211)])
def test_any_flipped_bit_is_noticed(tmp_path, suffix, read, every):
    path = tmp_path / "file"
    WRITE[suffix](path, 3)
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), every):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=f"file: cannot be read as {suffix}: "):
            read(path)


def test_what_is_wrong_in_json_is_named(tmp_path):
    path = tmp_path / "file"
    write_json(path, {"p": {"q": 1}})
    assert read_document(path) == json.loads(path.read_text())
    for content, why in (
        (b"[1]", r"it is \[1\], not an object; delete it"),
        (b'{"p": "\x80"}', ".*codec can't decode"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"file: cannot be read as JSON: {why}"):
            read_document(path)


ARRAYS = {"x": np.arange(14, dtype=np.float32).reshape(2, 7).T, "y": np.arange(7, dtype=np.uint8)}


def same(read):
    return all(np.array_equal(read[name], array) and read[name].dtype == array.dtype for name, array in ARRAYS.items())


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_arrays_read_in_parts_are_the_whole(tmp_path, size):
    write_arrays(tmp_path / "a", ARRAYS)
    parts = list(read_parts(tmp_path / "a", size))
    assert [len(part["y"]) for part in parts[:-1]] == [size] * (len(parts) - 1)
    assert same({name: np.concatenate([part[name] for part in parts]) for name in ARRAYS})


FRAME = pd.DataFrame({"norm": ["none", "ln"] * 4, "seed": range(8), "accuracy": [place / 7 for place in range(8)]})


def test_a_column_that_a_csv_must_have_is_named(tmp_path):
    write_csv(tmp_path / "f", FRAME)
    assert read_csv(tmp_path / "f", "seed", "accuracy").equals(FRAME)
    with pytest.raises(InputError, match="f: cannot be read as CSV: it has no column length, task; "):
        read_csv(tmp_path / "f", "seed", "length", "task")


def test_a_column_a_length_and_back_again():
    cells = [("ln", 1, 64, 0.5), ("ln", 1, 1024, 0.25), ("none", 0, 64, 0.75)]
    frame = pd.DataFrame(cells, columns=["norm", "seed", "length", "accuracy"])
    wide = widened(frame, "accuracy")
    assert list(wide) == ["norm", "seed", "accuracy_64", "accuracy_1024"]
    assert wide["norm"].tolist() == ["ln", "none"]
    found = tidied(wide, "accuracy").sort_values(["norm", "length"], ignore_index=True)
    pd.testing.assert_frame_equal(found, frame, check_dtype=False)


@pytest.mark.parametrize(("write", "read"), [(write_frame, read_frame), (write_csv, read_csv)])
def test_text_missing_values_and_numbers_stay_as_they_are(tmp_path, write, read):
    frame = pd.DataFrame({"note": ["7 seeds", None, "5"], "paper": [None, 1.5, 2.0], "norm": ["none", "ln", "none"]})
    write(tmp_path / "f", frame)
    found = read(tmp_path / "f")
    assert found["norm"].tolist() == frame["norm"].tolist()
    assert found["note"].isna().tolist() == [False, True, False]
    assert found["paper"].isna().tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b"a,b\n1,2\n3,4", "its last line is cut off"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 values, the first has 2"),
        (b'a,b\n1,"2\n3,4\n', "unexpected end of data"),
    ],
)
def test_what_is_wrong_with_a_csv_is_one_line(tmp_path, content, why):
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: cannot be read as CSV: {why}")):
        read_csv(path)
