"""dvc.lock, byte for byte as DVC leaves it, written once for several stages."""

import os
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from dvc.utils.serialize import dumps_yaml, parse_yaml_for_update


def update_lock(path: Path, records: Mapping[str, Any]) -> bool:
    """Write the records of some stages, by name, all or none even when power fails; return whether the file changed.

    Raises DvcException when the file is not YAML, OSError when it cannot be written.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    document = parse_yaml_for_update(text, path) or {"schema": "2.0"}
    stages = document.setdefault("stages", {})
    for name, record in records.items():
        # a copy: YAML writes what two records share as a reference to the first, and DVC writes one at a time
        stages[name] = deepcopy(record)
    updated = dumps_yaml(document)
    if updated == text:
        return False
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(updated)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise OSError(problem.errno, f"cannot be written: {problem.strerror}", str(path)) from None
    return True
