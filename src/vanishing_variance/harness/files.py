"""Text and JSON files: each appears under its name only when it is whole, for a temporary file is renamed."""

import json
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vanishing_variance.harness.errors import InputError, shown


def write(path: Path, save: Callable[[Path], object]) -> None:
    """Call `save` on a temporary path beside `path`, then rename it to `path`: on the disk first, for when power fails.

    Raises InputError, which says what to do, when the disk is full or the folder cannot be written to.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            save(temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        why = problem.strerror or problem
        raise InputError(f"{path}: cannot be written: {why}; make room or make it writable, and run it again") from None


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes as they are."""
    write(path, lambda to: to.write_bytes(content))


def write_text(path: Path, text: str) -> None:
    """Write text, UTF-8, line ends as they are."""
    write_bytes(path, text.encode())


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write JSON, indented. Raises ValueError on a number that is not finite."""
    write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file. Raises InputError when it is missing or not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "not UTF-8"
        raise InputError(f"{path}: cannot be read as text: {why}; run dvc repro") from None


def read_document(path: Path) -> dict[str, Any]:
    """Return what a JSON file holds, an object. Raises InputError when the file is missing, damaged or not one."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict):
            raise ValueError(f"it is {shown(document)}, not an object")
        return document
    except (OSError, ValueError, RecursionError) as problem:
        raise InputError(f"{path}: cannot be read as JSON: {problem}; delete it and run dvc repro") from None
