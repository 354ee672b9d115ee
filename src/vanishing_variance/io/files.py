"""Text and JSON. Whatever is written appears under its name only when it is whole: a temporary file is renamed."""

import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vanishing_variance.errors import InputError

# No write takes as long: a temporary file that is older is what a killed process left.
SECONDS_UNTIL_LEFT = 24 * 3600


def write(path: Path, save: Callable[[Path], object]) -> None:
    """Call `save` on a temporary path beside `path`, then rename it to `path`: on the disk first, for when power fails.

    Raises InputError, which says what to do, when the disk is full or the folder cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{path.name}.*.tmp"):
            if time.time() - left.stat().st_mtime > SECONDS_UNTIL_LEFT:
                left.unlink(missing_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
        try:
            save(temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        raise InputError(
            f"{path}: cannot be written: {problem.strerror or problem}; make room or make it writable, and run it again"
        ) from None


def write_bytes(path: Path, content: bytes) -> None:
    """Bytes as they are."""
    write(path, lambda to: to.write_bytes(content))


def write_text(path: Path, text: str) -> None:
    """Text, UTF-8, line ends as they are."""
    write_bytes(path, text.encode())


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """JSON, indented; raises ValueError on a number that is not finite."""
    write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """What a JSON file holds. Raises InputError when the file is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise InputError(f"{path}: cannot be read as JSON: {problem}; delete it and run dvc repro") from None
