"""Edits of a program's own sources while it runs.

DVC hashes what a stage depends on once it has run, and would record its outputs as those of the edited sources.
"""

import os
import sys
from pathlib import Path

from vanishing_variance.harness.errors import InputError

# Folders of a checkout, and endings of the files in them that programs load.
FOLDERS, ENDINGS = ("src/vanishing_variance", "stages"), (".py", ".c")
# When a file was last changed, and its size; None where there is no such file.
State = tuple[int, int] | None
_noted: dict[Path, State] = {}


def note_sources(checkout: Path) -> None:
    """Note the sources of a checkout as they are, before they are loaded."""
    for folder in FOLDERS:
        for path in (checkout / folder).rglob("*"):
            if path.suffix in ENDINGS:
                _noted[path] = _state(path)


def require_unedited() -> None:
    """Raise InputError where a source that this program has loaded is no longer as it was noted."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    loaded = {Path(file) for file in files if file is not None}
    loaded |= {path.with_suffix(".c") for path in loaded}
    for path in sorted(loaded & _noted.keys()):
        if _state(path) != _noted[path]:
            why = "was edited while this ran, so its outputs are of neither version; run it again"
            raise InputError(f"{os.path.relpath(path)} {why}")


def _state(path: Path) -> State:
    """Return the state of a file without opening it: a stage's reads are its dependencies."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
