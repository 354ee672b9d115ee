import signal
import subprocess
import sys
from unittest.mock import MagicMock

import pytest

from vanishing_variance.harness.command import call


@pytest.mark.parametrize(
    ("waits", "code"), [([0], 0), ([KeyboardInterrupt, 0], 252), ([KeyboardInterrupt] * 2 + [7], 7)]
)
def test_an_interrupt_leaves_a_command_to_end_in_its_own_way(monkeypatch, waits, code):
    started = MagicMock()
    process = started.return_value.__enter__.return_value
    process.wait.side_effect = waits
    monkeypatch.setattr(subprocess, "Popen", started)
    assert call(["some", "command"]) == code
    process.kill.assert_not_called()


ENDS_ITS_PARENT = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
while True:
    os.kill(os.getppid(), signal.SIGTERM)
    time.sleep(0.1)
"""


def test_a_sigterm_is_passed_on_to_the_command():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert call([sys.executable, "-c", ENDS_ITS_PARENT]) == 5
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
