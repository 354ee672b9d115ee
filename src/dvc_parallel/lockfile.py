"""dvc.lock, byte for byte as DVC leaves it, but written at once."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dvc.utils.serialize import dumps_yaml, parse_yaml_for_update


def update_lock(path: Path, records: Mapping[str, Any]) -> None:
    """Write the records of stages, by name, all or none even when power fails.

    Raises DvcException when the file is not YAML, OSError when it cannot be written.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    document = parse_yaml_for_update(text, path) or {"schema": "2.0"}
    document.setdefault("stages", {}).update(records)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(dumps_yaml(document))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise OSError(problem.errno, f"cannot be written: {problem.strerror}", str(path)) from None
