import numpy as np
import pytest
from damaged import with_a_flipped_bit

from vanishing_variance.core import arrays
from vanishing_variance.core.arrays import read_parts, verify, write_arrays
from vanishing_variance.core.errors import InputError

SEQUENCES = {"x": np.arange(60, dtype=np.float32).reshape(12, 5), "target": np.arange(12)}


@pytest.mark.parametrize("at_once", [1, 5, 12, 60, 2**20])
def test_types_and_shapes_of_a_whole_file_whatever_is_read_at_once(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(arrays, "_ELEMENTS_AT_ONCE", at_once)
    write_arrays(tmp_path / "a", SEQUENCES)
    assert verify(tmp_path / "a") == {"x": (np.float32, (12, 5)), "target": (np.int64, (12,))}


def test_any_flipped_bit_is_noticed_before_the_file_is_read_in_parts(tmp_path):
    path = tmp_path / "a.safetensors"
    write_arrays(path, SEQUENCES)
    for _ in with_a_flipped_bit(path, 31):
        with pytest.raises(InputError, match=r"a\.safetensors: cannot be read as safetensors"):
            verify(path)


def test_one_part_alone_would_not_notice_it(tmp_path):
    path = tmp_path / "a.safetensors"
    write_arrays(path, SEQUENCES)
    path.write_bytes(path.read_bytes()[:-1] + b"\x40")
    assert len(list(read_parts(path, 3))) == 4


@pytest.mark.parametrize("name", ["nothing", "."])
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        verify(tmp_path / name)


def test_no_sequences_at_all_are_refused(tmp_path):
    write_arrays(tmp_path / "a", {"x": np.zeros((0, 3))})
    with pytest.raises(InputError, match="a: cannot be read as safetensors"):
        verify(tmp_path / "a")
