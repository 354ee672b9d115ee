import numpy as np
import pytest

from vanishing_variance.harness.arrays import read_about, read_arrays, read_parts, write_arrays

ARRAYS = {"x": np.arange(14, dtype=np.float32).reshape(2, 7).T, "y": np.arange(7, dtype=np.uint8)}


def same(read):
    return all(np.array_equal(read[name], array) and read[name].dtype == array.dtype for name, array in ARRAYS.items())


def test_arrays_and_what_is_said_about_them_are_read_back(tmp_path):
    write_arrays(tmp_path / "new/a", ARRAYS, step=3, made={"by": "test"})
    assert same(read_arrays(tmp_path / "new/a"))
    about = read_about(tmp_path / "new/a")
    assert (about["step"], about["made"]) == (3, {"by": "test"})


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_arrays_read_in_parts_are_the_whole(tmp_path, size):
    write_arrays(tmp_path / "a", ARRAYS)
    parts = list(read_parts(tmp_path / "a", size))
    assert [len(part["y"]) for part in parts[:-1]] == [size] * (len(parts) - 1)
    assert same({name: np.concatenate([part[name] for part in parts]) for name in ARRAYS})
