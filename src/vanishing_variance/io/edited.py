"""YAML with some values changed and all else, comments included, as it was."""

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq

from vanishing_variance.io.files import write_text


def edit_yaml(path: Path, changes: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Set the values at dotted keys that exist; returns those that changed: the key, its old and its new value."""
    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, 4096
    document, changed = yaml.load(path.read_text(encoding="utf-8")), {}
    for key, value in changes.items():
        *sections, last = key.split(".")
        section = document
        for name in sections:
            section = section[name]
        if section[last] == value:
            continue
        changed[key] = (section[last], value)
        section[last] = _inline(value) if isinstance(value, list) else value
    if changed:
        text = StringIO()
        yaml.dump(document, text)
        write_text(path, text.getvalue())
    return changed


def _inline(values: list[Any]) -> CommentedSeq:
    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence
