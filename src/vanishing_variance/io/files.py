"""Text and JSON. Whatever is written appears under its name only when it is whole: a temporary file is renamed."""

import json
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vanishing_variance.errors import InputError


def write(path: Path, save: Callable[[Path], object]) -> None:
    """Call `save` on a temporary path beside `path`, then rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        save(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Text, UTF-8, line ends as they are."""
    write(path, lambda to: to.write_bytes(text.encode()))


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """JSON, indented; raises ValueError on a number that is not finite."""
    write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """What a JSON file holds. Raises InputError when the file is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read as JSON: {problem}; delete it and run dvc repro") from None
