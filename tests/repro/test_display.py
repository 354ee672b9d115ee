"""What is shown, in a log and on a terminal."""

import io

from vanishing_variance.progress import Progress
from vanishing_variance.repro.display import PROGRESS, Display

FAR = "train x: 20/30 seed-steps, 5 seed-steps/s, 2 s left"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_of_progress_is_what_progress_writes(capsys):
    with Progress("train x", 30, "seed-steps") as progress:
        progress(30)
    line = capsys.readouterr().err.strip()
    assert PROGRESS.match(line)[1].startswith("30/30 seed-steps, ")


def test_in_a_log_every_line_has_the_name_of_its_stage(capsys):
    display = Display()
    display.started("train@x", "tcp://here", 2)
    for text in (FAR, "", "something else"):
        display.line("train@x", text)
    display.ended("train@x")
    assert capsys.readouterr().out.splitlines() == [f"train@x| {FAR}", "train@x| something else"]


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
    assert terminal.getvalue().count("train@x: at ") == 1
    display.close()
    assert terminal.getvalue().endswith("\r")
