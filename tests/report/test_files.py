"""The files that the page reads, which may be missing or damaged."""

import pytest
from made_up_results import draw
from PIL import Image

from vanishing_variance.harness.errors import InputError
from vanishing_variance.report.figures import read_figure
from vanishing_variance.report.text import read_text


def test_a_figure_that_is_missing_cut_off_or_without_words_is_one_line(tmp_path):
    path = tmp_path / "figure.png"
    said = rf"^{path}: cannot be read as a figure: [^\n]*; draw it again, or git checkout it$"
    with pytest.raises(InputError, match=said):
        read_figure(path, tmp_path)
    draw(path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"no picture"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=said):
            read_figure(path, tmp_path)
    Image.new("RGB", (2, 2)).save(path)
    with pytest.raises(InputError, match=said):
        read_figure(path, tmp_path)


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), (b"\xff\xfe\xfa", "not UTF-8")])
def test_a_text_that_cannot_be_read_is_one_line(content, said, tmp_path):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^{path}: cannot be read as text: {said}[^\n]*run dvc repro$"):
        read_text(path)
