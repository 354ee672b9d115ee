import re

import pandas as pd
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import read_csv, read_frame, tidied, widened, write_csv, write_frame
from vanishing_variance.results.accuracy import rounded

FRAME = pd.DataFrame({"norm": ["none", "ln"] * 4, "seed": range(8), "accuracy": [place / 7 for place in range(8)]})
formats = pytest.mark.parametrize(("write", "read"), [(write_frame, read_frame), (write_csv, read_csv)])


def test_a_column_that_a_csv_must_have_is_named(tmp_path):
    write_csv(tmp_path / "f", FRAME)
    assert read_csv(tmp_path / "f", "seed", "accuracy").equals(FRAME)
    with pytest.raises(InputError, match="f: cannot be read as CSV: it has no column length, task; "):
        read_csv(tmp_path / "f", "seed", "length", "task")


def test_numbers_are_rounded_to_six_significant_digits():
    frame = pd.DataFrame({"n": [7, 8], "p": [1.23456789e-300, None], "mean": [-98.7654321, 0.5], "note": ["", "x"]})
    expected = pd.DataFrame({"n": [7, 8], "p": [1.23457e-300, None], "mean": [-98.7654, 0.5], "note": ["", "x"]})
    pd.testing.assert_frame_equal(rounded(frame), expected)


def test_a_column_a_length_and_back_again():
    cells = [("ln", 1, 64, 0.5), ("ln", 1, 1024, 0.25), ("none", 0, 64, 0.75)]
    frame = pd.DataFrame(cells, columns=["norm", "seed", "length", "accuracy"])
    wide = widened(frame, "accuracy")
    assert list(wide) == ["norm", "seed", "accuracy_64", "accuracy_1024"]
    assert wide["norm"].tolist() == ["ln", "none"]
    found = tidied(wide, "accuracy").sort_values(["norm", "length"], ignore_index=True)
    pd.testing.assert_frame_equal(found, frame, check_dtype=False)


@formats
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
        (b"\n", "No columns"),
        (b"a,b\n1,2\n3,4", "its last line is cut off"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 values, the first has 2"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 values, the first has 2"),
        (b"a,b\n<<<<<<< HEAD\n1,2\n", "line 2 has 1 values, the first has 2"),
        (b"a,b\n1,2\n3,\xff\n", "'utf-8' codec can't decode"),
        (b'a,b\n1,"2\n3,4\n', "unexpected end of data"),
    ],
)
def test_what_is_wrong_with_a_csv_is_one_line(tmp_path, content, why):
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: cannot be read as CSV: {why}")):
        read_csv(path)
