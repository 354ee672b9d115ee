"""YAML 1.2, as DVC reads it."""

import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from vanishing_variance.harness.errors import InputError, shown

# The dotted key of a choice's option, such as norm_options.width.
OPTION = re.compile(r"_options\.[^.]+$")


def read_yaml(path: Path) -> dict[str, Any]:
    """Return a document of keys and values.

    Raises InputError, which names the line, when it is not YAML, has a key twice, is missing, or is not a mapping.
    """
    try:
        document = YAML(typ="safe", pure=True).load(path.read_bytes().decode())
    except OSError as problem:
        raise InputError(f"{path}: cannot be read as YAML: {problem.strerror}") from None
    except Exception as problem:  # whatever the parser raises on what is not YAML
        raise InputError(f"{path}: cannot be read as YAML: {_why(problem)}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: is {shown(document)}; must be a mapping of keys to values")
    return document


def written(document: Mapping[str, Any], *, once: bool = False) -> str:
    """Return a document of keys and values as YAML; `once`: equal sections are written once, and referred to."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    if once:
        document = _interned(document, {})
    else:
        yaml.representer.ignore_aliases = lambda value: True
    text = StringIO()
    yaml.dump(document, text)
    return text.getvalue()


def flattened(sections: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of sections, and of sections in them, by dotted key; an empty section is a value, too.

    So is the value of an OPTION, even a mapping.

    Raises InputError for a key given twice, nested and dotted.
    """
    values: dict[str, Any] = {}
    for name, value in sections.items():
        key = f"{prefix}{name}"
        is_section = isinstance(value, Mapping) and value and not OPTION.search(key)
        inner = flattened(value, f"{key}.") if is_section else {key: value}
        for twice in values.keys() & inner.keys():
            raise InputError(f"{twice} is {shown(values[twice])} and {shown(inner[twice])}; must be given once")
        values |= inner
    return values


def _interned(value: Any, seen: dict[str, Any]) -> Any:
    """Return a value in which equal sections and lists, but for empty ones, are the same object."""
    if isinstance(value, Mapping):
        value = {name: _interned(part, seen) for name, part in value.items()}
    return seen.setdefault(repr(value), value) if isinstance(value, dict | list) and value else value


def _why(problem: Exception) -> str:
    if isinstance(problem, MarkedYAMLError) and problem.problem_mark is not None:
        line = problem.problem_mark.line + 1
        return f"line {line}: {problem.problem or problem.context}"
    return f"{type(problem).__name__}: {problem}"
