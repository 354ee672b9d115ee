"""YAML as DVC reads it."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.nodes import Node

from vanishing_variance.errors import InputError, shown

# A file of ten thousand blocks has 60 kB.
LARGEST = 2**18
DEEPEST = 20


class _Composer(Composer):
    """Without aliases, by which a small file can stand for more than there is memory, or hold itself."""

    def compose_node(self, parent: Node | None, index: Any) -> Any:
        if self.parser.check_event(AliasEvent):
            mark = self.parser.peek_event().start_mark
            raise ComposerError(problem="found an alias; write the value out", problem_mark=mark)
        return super().compose_node(parent, index)


def read_yaml(path: Path) -> dict[str, Any]:
    """A document: YAML 1.2, every key once, no aliases, at most LARGEST bytes and DEEPEST levels.

    Raises InputError, which names the line, when it is not that, is not there, or is not a mapping.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read as YAML: {problem.strerror}") from None
    if len(content) > LARGEST:
        raise InputError(f"{path}: is larger than {LARGEST} bytes; must be a mapping of keys to values")
    try:
        document = _parsed(content)
    except Exception as problem:  # whatever the parser raises on what is not YAML
        raise InputError(f"{path}: cannot be read as YAML: {_why(problem)}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: is {shown(document)}; must be a mapping of keys to values")
    return document


def _parsed(content: bytes) -> Any:
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Composer
    yaml.max_depth = DEEPEST
    return yaml.load(content.decode())


def _why(problem: Exception) -> str:
    if isinstance(problem, MarkedYAMLError) and problem.problem_mark is not None:
        said = ", ".join(part for part in (problem.context, problem.problem) if part)
        return f"line {problem.problem_mark.line + 1}: {said}"
    return f"{type(problem).__name__}: {problem}"
