import math

import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.paths import TIMES
from vanishing_variance.report.formats import interval, number
from vanishing_variance.report.text import read_svg, read_text
from vanishing_variance.report.times import read_times


def test_a_minus_is_a_minus_zero_has_no_sign_and_a_missing_number_is_a_dash():
    values = {-3.14: "−3.1", 2.0: "+2.0", -0.04: "0.0", 0.04: "0.0", None: "–", math.nan: "–"}
    assert [number(value, "+.1f") for value in values] == [*values.values()]
    assert interval(-1.0, 2.0, "+.1f") == "−1.0, +2.0"
    assert interval(-1.0, math.nan, "+.1f") == interval(None, 2.0, "+.1f") == "–"


@pytest.mark.parametrize(
    ("read", "content", "said"),
    [
        (read_text, None, "cannot be read as text: No such file"),
        (read_text, b"\xff\xfe\xfa", "cannot be read as text: not UTF-8"),
        (read_svg, b'<svg xmlns="http://www.w3.org/2000/svg"><rect', "cannot be read as SVG: "),
    ],
)
def test_a_text_or_picture_that_cannot_be_read_is_one_line(read, content, said, tmp_path):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^{path}: {said}[^\n]*run dvc repro$"):
        read(path)


def test_a_time_that_cannot_be_read_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_times() == []
    good = {"stage": "check", "seconds": 0.5}
    write_json(TIMES / "check.json", good)
    write_json(TIMES / "other.json", {"stage": "other"})
    (TIMES / "cut.json").write_text('{"stage": "cu')
    assert read_times() == [good]
