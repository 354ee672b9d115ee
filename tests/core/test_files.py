import os

import numpy as np
import pandas as pd
import pytest
from damaged import with_a_flipped_bit
from matplotlib.figure import Figure

from vanishing_variance.core.arrays import read_about, read_arrays, read_parts, write_arrays
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.files import write, write_json, write_text
from vanishing_variance.core.frames import read_csv, read_frame, write_csv, write_frame
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure

ARRAYS = {"a": np.arange(6, dtype=np.int16).reshape(2, 3).T, "b": np.ones(2, dtype=np.float32)}
FRAME = pd.DataFrame({"norm": ["none", "ln"], "accuracy": [0.1, 1 / 3]})


def test_what_is_written_is_read_back(tmp_path):
    write_arrays(tmp_path / "new" / "arrays", ARRAYS)
    read = read_arrays(tmp_path / "new" / "arrays")
    assert all(np.array_equal(read[name], ARRAYS[name]) for name in ARRAYS)
    write_frame(tmp_path / "frame", FRAME)
    assert read_frame(tmp_path / "frame").equals(FRAME)
    write_csv(tmp_path / "csv", FRAME)
    assert read_csv(tmp_path / "csv").equals(FRAME)


def test_a_failed_write_leaves_the_former_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("good")

    def half(to):
        to.write_text("ba")
        raise OSError("disk full")

    with pytest.raises(InputError, match="file: cannot be written: disk full; make room"):
        write(path, half)
    assert path.read_text() == "good"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match="Out of range"):
        write_json(path, {"p": float("nan")})
    assert path.read_text() == "good"


@pytest.mark.parametrize(
    ("write_one", "read", "content"), [(write_arrays, read_arrays, ARRAYS), (write_frame, read_frame, FRAME)]
)
def test_a_missing_or_truncated_file_is_named(tmp_path, write_one, read, content):
    path = tmp_path / "file"
    for damage in (lambda: None, lambda: (write_one(path, content), path.write_bytes(path.read_bytes()[:40]))):
        damage()
        with pytest.raises(InputError) as refused:
            read(path)
        assert str(path) in str(refused.value)
        assert "\n" not in str(refused.value)


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for folder in ("one", "two"):
        write_arrays(tmp_path / folder / "arrays", ARRAYS)
        write_frame(tmp_path / folder / "frame", FRAME)
        figure = Figure()
        figure.subplots().plot([1, 2], label="line")
        write_figure(tmp_path / folder / "figure", Drawing(figure, "Title", "Caption"))
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {"arrays", "frame", "figure.png", "figure.svg"}
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_a_file_is_replaced_whole_not_overwritten(tmp_path):
    path = tmp_path / "file"
    path.write_text("good")
    with path.open() as reader:
        write(path, lambda to: to.write_text("better"))
        assert reader.read() == "good"
    assert path.read_text() == "better"


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_arrays_read_in_parts_are_the_whole(tmp_path, size):
    arrays = {"x": np.arange(14, dtype=np.float32).reshape(7, 2), "y": np.arange(7, dtype=np.uint8)}
    write_arrays(tmp_path / "a.safetensors", arrays)
    parts = list(read_parts(tmp_path / "a.safetensors", size))
    assert [len(part["y"]) for part in parts[:-1]] == [size] * (len(parts) - 1)
    for name, array in arrays.items():
        assert np.array_equal(np.concatenate([part[name] for part in parts]), array)
        assert parts[0][name].dtype == array.dtype


@pytest.mark.parametrize("content", [None, b"nothing of the kind", "truncated"])
def test_parts_of_a_missing_or_damaged_file_are_one_clear_error(tmp_path, content):
    path = tmp_path / "a.safetensors"
    if content == "truncated":
        write_arrays(path, {"x": np.zeros(1000)})
        content = path.read_bytes()[:-8]
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.safetensors: cannot be read as safetensors: .*; delete it and run dvc"):
        list(read_parts(path, 10))


def test_what_a_file_says_about_its_arrays_is_read_back(tmp_path):
    write_arrays(tmp_path / "a", ARRAYS, step=3, made={"by": "test"})
    about = read_about(tmp_path / "a")
    assert (about["step"], about["made"]) == (3, {"by": "test"})


def test_any_flipped_bit_of_arrays_is_noticed(tmp_path):
    path = tmp_path / "a.safetensors"
    write_arrays(path, ARRAYS)
    for _ in with_a_flipped_bit(path, 7):
        with pytest.raises(InputError, match=r"a\.safetensors: cannot be read as safetensors"):
            read_arrays(path)


def test_what_a_killed_process_left_is_cleared_a_day_later_and_a_write_under_way_is_not(tmp_path):
    old, new = tmp_path / ".file.1-aa.tmp", tmp_path / ".file.2-bb.tmp"
    for left in (old, new):
        left.write_text("half")
    os.utime(old, (0, 0))
    write_text(tmp_path / "file", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {"file", new.name}
