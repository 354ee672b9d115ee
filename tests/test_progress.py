import pytest

from vanishing_variance import progress
from vanishing_variance.progress import Found, Progress


def test_a_log_gets_plain_lines_with_rate_and_time_left(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with Progress("train x", 100, "steps") as report:
        for _ in range(4):
            now[0] += 6
            report(10)
    assert capsys.readouterr().err.splitlines() == [
        "train x: 20/100 steps, 2 steps/s, 48 s left",
        "train x: 40/100 steps, 2 steps/s, 36 s left",
        "train x: 40/100 steps, 2 steps/s, 36 s left",
    ]


def test_what_an_earlier_run_finished_counts_but_not_for_the_rate(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with Progress("train x", 100, "steps") as report:
        for done in (Found(30), 10, Found(20), 10):
            now[0] += 6
            report(done)
    with Progress("train x", 100, "steps") as report:
        report(Found(100))
    assert capsys.readouterr().err.splitlines() == [
        "train x: 40/100 steps, 1 steps/s, 72 s left",
        "train x: 70/100 steps, 1 steps/s, 36 s left",
        "train x: 70/100 steps, 1 steps/s, 36 s left",
        "train x: 100/100 steps, 0 steps/s, 0 s left",
    ]


def test_a_failure_is_not_followed_by_a_line(capsys):
    with pytest.raises(ValueError, match="broken"), Progress("train x", 100, "steps"):
        raise ValueError("broken")
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    with Progress("train x", 2, "steps") as report:
        report(2)
    assert "100%" in capsys.readouterr().err


def test_what_an_earlier_run_finished_does_not_count_for_the_rate_of_a_bar(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    with Progress("train x", 100, "steps") as report:
        for done in (Found(40), 10, Found(20), 10):
            now[0] += 0 if isinstance(done, Found) else 10
            report(done)
    lately, overall = capsys.readouterr().err.split("\r")[-2:]
    assert " 80/100 [00:20<00:20,  1.00steps/s]" in lately
    assert " 80/100 [00:20<00:20,  1.00steps/s]" in overall
