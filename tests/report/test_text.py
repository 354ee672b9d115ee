import pytest

from vanishing_variance.core.errors import InputError
from vanishing_variance.report.text import read_text


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
