from vanishing_variance.harness import progress
from vanishing_variance.harness.progress import Progress


def test_a_log_gets_lines_with_the_rate_since_the_last_one_and_the_time_left(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with Progress("train x", 100, "steps") as report:
        report(40)  # of an earlier run
        for _ in range(6):
            now[0] += 6
            report(6)
    assert capsys.readouterr().err.splitlines()[1:] == [
        "train x: 64/100 steps, 1 steps/s, 36 s left",
        "train x: 76/100 steps, 1 steps/s, 24 s left",
        "train x: 76/100 steps, 36 s",
    ]
