from vanishing_variance.core.files import write_json
from vanishing_variance.core.paths import TIMES
from vanishing_variance.report.times import read_times


def test_a_time_that_cannot_be_read_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_times() == []
    good = {"stage": "check", "seconds": 0.5}
    write_json(TIMES / "check.json", good)
    write_json(TIMES / "other.json", {"stage": "other"})
    (TIMES / "cut.json").write_text('{"stage": "cu')
    assert read_times() == [good]
