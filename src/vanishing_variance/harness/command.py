"""A command that is run to its end."""

import signal
import subprocess
from collections.abc import Sequence


def call(command: Sequence[str]) -> int:
    """Return a command's exit code; 252 where it ended well after a Ctrl-C, which a terminal sends to it, too.

    The command is left to end in its own way, which may take a while: subprocess.run would kill it. A SIGTERM is passed
    on to it.
    """
    interrupted = False
    with subprocess.Popen(command) as process:
        before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            while True:
                try:
                    return process.wait() or 252 * interrupted
                except KeyboardInterrupt:
                    interrupted = True
        finally:
            signal.signal(signal.SIGTERM, before)
