import platform

import pytest

from vanishing_variance.errors import InputError
from vanishing_variance.io.text import read_text
from vanishing_variance.io.versions import versions


def test_text_is_read_as_it_stands(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("a – b\n".encode())
    assert read_text(path) == "a – b\n"


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xfa"])
def test_text_that_cannot_be_read_is_one_line(tmp_path, content):
    path = tmp_path / "text"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"text: cannot be read as text: (No such file|not UTF-8).*; run dvc"):
        read_text(path)


def test_versions_are_of_what_is_installed():
    import numpy

    assert versions(["numpy"]) == {"python": platform.python_version(), "numpy": numpy.__version__}
