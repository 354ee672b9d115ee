"""YAML as DVC reads it."""

import re
from pathlib import Path
from typing import Any

import yaml

from vanishing_variance.errors import InputError, shown


class _Loader(yaml.SafeLoader):
    """A SafeLoader to which 1e-3 is a number, as it is to DVC (YAML 1.2); PyYAML's YAML 1.1 sees text."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def read_yaml(path: Path) -> dict[str, Any]:
    """A document. Raises InputError when it is not there or not a YAML mapping."""
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read as YAML: {' '.join(str(problem).split())}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: is {shown(document)}; must be a mapping of keys to values")
    return document
