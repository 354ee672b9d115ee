"""Runs a command, and ends it with all its processes when the process that asked for it has ended, however that ends.

Run by its path, in a session of its own, with that process's number and the command. It ends as the command does. A
shell may stand between a stage and its worker, so that the stage itself would not notice.
"""

import os
import signal
import subprocess
import sys
import threading
import time

SECONDS_BETWEEN_LOOKS = 0.1


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Exits with the command's exit code, or by the signal that ended it."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    # the whole session is terminated at once; the command decides how it ends, and this reports it
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    code = subprocess.Popen(command).wait()
    if code < 0:
        if -code not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
