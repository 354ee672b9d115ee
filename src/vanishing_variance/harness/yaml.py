"""YAML 1.2, as DVC reads it."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from vanishing_variance.harness.errors import InputError, shown


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


def _why(problem: Exception) -> str:
    if isinstance(problem, MarkedYAMLError) and problem.problem_mark is not None:
        said = ", ".join(part for part in (problem.context, problem.problem) if part)
        return f"line {problem.problem_mark.line + 1}: {said}"
    return f"{type(problem).__name__}: {problem}"
