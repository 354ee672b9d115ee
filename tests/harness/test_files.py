"""Every format: a file appears only when it is whole, has the same bytes each time, and damage to it is noticed."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scripts import no_file_above

from vanishing_variance.harness.arrays import read_about, read_arrays, read_parts, write_arrays
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_document, write_json, write_text
from vanishing_variance.harness.frames import read_csv, read_frame, write_csv, write_frame

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
    *(("parquet", read_frame), ("csv", read_csv), ("json", partial(read_document, kind=dict))),
]
each_way_of_writing = pytest.mark.parametrize("suffix", WRITE)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@each_way_of_writing
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


def test_what_is_missing_in_json_is_named(tmp_path):
    path = tmp_path / "file"
    write_json(path, {"p": {"q": 1}})
    assert read_document(path, dict[str, dict[str, int]]) == json.loads(path.read_text())
    with pytest.raises(InputError, match=r"file: p\.q is 1: Input should be a valid string; delete it"):
        read_document(path, dict[str, dict[str, str]])
