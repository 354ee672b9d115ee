"""YAML with some values changed and all else, comments included, as it was."""

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text


def edit_yaml(path: Path, changes: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Set the values at dotted keys that exist; returns those that changed: the key, its old and its new value.

    Raises InputError when the file is not YAML as its 1.2 has it, of which a key that is there twice is not.
    """
    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, 4096
    yaml.representer.add_representer(type(None), _null)
    try:
        document, changed = yaml.load(path.read_text(encoding="utf-8")), {}
    except YAMLError as problem:
        raise InputError(f"{path}: cannot be read as YAML: {' '.join(str(problem).split())[:200]}") from None
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


def _null(representer: RoundTripRepresenter, _: None) -> ScalarNode:
    """Return `null`, as it is written elsewhere; ruamel leaves it empty."""
    node: ScalarNode = representer.represent_scalar("tag:yaml.org,2002:null", "null")
    return node


def _inline(values: list[Any]) -> CommentedSeq:
    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence
