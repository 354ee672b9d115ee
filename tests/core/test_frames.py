import re

import pandas as pd
import pytest
from damaged import with_a_flipped_bit

from vanishing_variance.core.errors import InputError
from vanishing_variance.core.frames import read_csv, read_frame, write_csv, write_frame

FRAME = pd.DataFrame({"norm": ["none", "ln"] * 4, "seed": range(8), "accuracy": [place / 7 for place in range(8)]})


def test_any_flipped_bit_of_parquet_is_noticed(tmp_path):
    path = tmp_path / "f.parquet"
    write_frame(path, FRAME)
    for _ in with_a_flipped_bit(path, 61):
        with pytest.raises(InputError, match=r"f\.parquet: cannot be read as parquet: its checksum does not fit; del"):
            read_frame(path)


def test_parquet_that_is_cut_off_anywhere_is_noticed(tmp_path):
    path = tmp_path / "f.parquet"
    write_frame(path, FRAME)
    whole = path.read_bytes()
    for size in [*range(0, len(whole), 50), *range(12), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"f\.parquet: cannot be read as parquet: its checksum does not fit; del"):
            read_frame(path)


def test_the_checksum_is_in_no_other_reader_s_way(tmp_path):
    write_frame(tmp_path / "f.parquet", FRAME)
    assert pd.read_parquet(tmp_path / "f.parquet").equals(FRAME)


def test_parquet_of_others_has_no_checksum(tmp_path):
    FRAME.to_parquet(tmp_path / "f.parquet")
    with pytest.raises(InputError, match="its checksum does not fit"):
        read_frame(tmp_path / "f.parquet")


@pytest.mark.parametrize(("write", "read"), [(write_frame, read_frame), (write_csv, read_csv)])
def test_a_missing_column_is_named(tmp_path, write, read):
    write(tmp_path / "f", FRAME)
    assert read(tmp_path / "f", "seed", "accuracy").equals(FRAME)
    with pytest.raises(InputError, match=r"f: .*: it has no column length, task; it has norm, seed, accuracy; "):
        read(tmp_path / "f", "seed", "length", "task")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b"\n", "No columns to parse from file"),
        (b"a,b\n1,2\n3,4", "its last line is cut off"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 values, the first has 2"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 values, the first has 2"),
        (b"a,b\n<<<<<<< HEAD\n1,2\n", "line 2 has 1 values, the first has 2"),
        (b"a,b\n1,2\n3,\xff\n", "'utf-8' codec can't decode byte 0xff in position 10: invalid start byte"),
        (b'a,b\n1,"2\n3,4\n', "unexpected end of data"),
        (b"a,b\n1,2\n3,4\n5,6x\n", "line 4: b is '6x', most are numbers"),
    ],
)
def test_what_is_wrong_with_a_csv_is_one_line(tmp_path, content, why):
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: cannot be read as CSV: {why}; git checkout it, or del")):
        read_csv(path)


@pytest.mark.parametrize("read", [read_frame, read_csv])
def test_a_directory_in_its_place_is_named(tmp_path, read):
    with pytest.raises(InputError, match=": Is a directory; "):
        read(tmp_path)


def test_text_missing_values_and_numbers_stay_as_they_are(tmp_path):
    frame = pd.DataFrame({"note": ["7 seeds", None, "5"], "paper": [None, 1.5, 2.0], "norm": ["none", "ln", "none"]})
    write_csv(tmp_path / "f.csv", frame)
    read = read_csv(tmp_path / "f.csv")
    assert read["norm"].tolist() == frame["norm"].tolist()
    assert read["note"].isna().tolist() == [False, True, False]
    assert read["paper"].isna().tolist() == [True, False, False]
