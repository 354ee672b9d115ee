"""What is shown on a terminal; test_driver.py reads what stands in a log."""

import io

from dvc_parallel.display import Display

FAR = "train x: 20/30 seed-steps, 5 seed-steps/s, 2 s left"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_a_running_stage_has_one_line_and_what_it_prints_is_above(capsys, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    display = Display()
    display.started("train@x", "tcp://here", 2)
    display.line("train@x", FAR)
    display.line("train@x", "something else")
    display.started("train@x", "tcp://there", 2)  # after its worker died
    assert capsys.readouterr().out == "train@x| something else\n"
    assert terminal.getvalue().count("train@x: at ") == 1
    assert "\rtrain@x: 20/30" in terminal.getvalue()
    display.close()
    assert terminal.getvalue().endswith("\r")
