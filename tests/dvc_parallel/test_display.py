"""What is shown, in a log and on a terminal."""

import io

import pytest

from dvc_parallel.display import SECONDS_BETWEEN_LINES, Display, fraction

FAR = "train x: 20/30 seed-steps, 5 seed-steps/s, 2 s left"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("text", "far"), [(FAR, 2 / 3), (FAR.replace("20/30", "0/0"), 0.0), ("20/30", None)])
def test_a_line_of_progress_tells_how_far_a_stage_is(text, far):
    assert fraction(text) == far


def test_in_a_log_every_line_but_progress_has_the_name_of_its_stage(capsys):
    display = Display()
    display.started("train@x", "tcp://here", 2)
    for text in (FAR, "", "something else"):
        display.line("train@x", text)
    display.ended("train@x")
    display.line("train@x", FAR)  # of whatever it is, nobody tells its progress any more
    assert capsys.readouterr().out.splitlines() == ["train@x| something else", f"train@x| {FAR}"]


def test_in_a_log_the_whole_is_told_now_and_then_with_the_progress_of_what_runs(capsys):
    now = 100.0
    display = Display(lambda: now)

    def said():
        display.whole("3 of 9 stages done", at_once=False)
        return capsys.readouterr().out

    display.started("train@x", "tcp://here", 1)
    display.started("train@y", "tcp://there", 1)
    display.line("train@x", FAR)
    now += SECONDS_BETWEEN_LINES - 1
    assert said() == ""
    now += 1
    assert said() == "3 of 9 stages done; running: train@x (67%), train@y (0%)\n"
    assert said() == ""
    display.ended("train@x")
    display.started("train@y", "tcp://another", 1)
    display.line("train@y", FAR)
    display.started("train@y", "tcp://another", 1)  # its worker died; it goes on from a checkpoint
    display.whole("4 of 9 stages done", at_once=True)
    assert capsys.readouterr().out == "4 of 9 stages done; running: train@y (67%)\n"
    now += SECONDS_BETWEEN_LINES - 1
    assert said() == ""
    display.close()
    display.whole("9 of 9 stages done", at_once=True)
    assert capsys.readouterr().out == "9 of 9 stages done\n"


def test_on_a_terminal_a_running_stage_has_one_line_which_says_how_far_it_is(capsys, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("tqdm.std._screen_shape_wrapper", lambda: lambda file: (100, 30))
    display = Display()
    display.started("train@x", "tcp://here", 2)
    assert "train@x: at tcp://here, cores: 2" in terminal.getvalue()
    display.line("train@x", FAR)
    assert "\rtrain@x: 20/30 seed-steps, 5 seed-steps/s, 2 s left" in terminal.getvalue()
    display.line("train@x", "something else")
    assert capsys.readouterr().out.splitlines() == ["train@x| something else"]
    display.started("train@x", "tcp://there", 2)  # after its worker died
    display.whole("3 of 9 stages done", at_once=False)
    above, below = (terminal.getvalue().rpartition(text)[0] for text in ("3 of 9 stages done", "train@x: 20/30"))
    assert above.count("\n") - above.count("\x1b[A") < below.count("\n") - below.count("\x1b[A")
    assert terminal.getvalue().count("train@x: at ") == 1
    display.close()
    assert terminal.getvalue().endswith("\r")
