"""Edits of a program's own sources while it runs, which other processes would load in their place.

DVC hashes what a stage depends on once it has run, and would record its outputs as those of the edited sources.
"""

import os
import sys
from pathlib import Path

from vanishing_variance.harness.errors import InputError

# Endings of the files that programs load, and the modules that they are.
ENDINGS = ".py", ".c"
MODULES = ("vanishing_variance", "stages", "__main__")
PACKAGE = Path(__file__).parents[1]
# What the processes have loaded that this one started.
LOADED_BY_OTHERS: set[Path] = set()
# When a file was last changed, and its size; None where there is no such file.
State = tuple[int, int] | None
_noted: dict[Path, State] = {}


def note_sources(*folders: Path) -> None:
    """Note the sources in folders as they are, before they are loaded."""
    for folder in folders:
        for path in folder.rglob("*"):
            if path.suffix in ENDINGS:
                _noted[path] = _state(path)


def loaded_sources() -> set[Path]:
    """Return the files that this process has loaded, and where the C sources of each are, if it has any."""
    paths = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)  # a folder of choices, such as norms/, has none
        if file is not None and name.partition(".")[0] in MODULES:
            paths |= {Path(file), Path(file).with_suffix(".c")}
    return paths


def require_unedited(why: str) -> None:
    """Raise InputError where a source that was loaded, here or by others, is no longer as it was noted.

    The others are noted as they are, and what was loaded before anything was noted.
    """
    loaded = loaded_sources() | LOADED_BY_OTHERS
    for path in sorted(loaded & _noted.keys()):
        if _state(path) != _noted[path]:
            raise InputError(f"{os.path.relpath(path)} was edited {why}")
    for path in PACKAGE.rglob("*"):
        if path.suffix in ENDINGS and not (path in loaded and path in _noted):
            _noted[path] = _state(path)


def _state(path: Path) -> State:
    """Return the state of a file without opening it: a stage's reads are its dependencies."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
