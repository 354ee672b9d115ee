"""The end of a process with its parent, which would leave it computing for nobody, and writing beside a next run."""

import os
import threading
import time


def end_with(parent: int) -> None:
    """Exit, from now on, when the parent process of this number has ended, however that ends."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(1)
