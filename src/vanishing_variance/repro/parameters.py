"""Files of parameters, which DVC reads nine times for each stage that runs: parsed once while they stay the same.

Parsing is half of what DVC does for a stage of ours.
"""

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any

from dvc.utils.serialize import LOADERS, parse_yaml
from dvc.utils.serialize._common import _load_data

KEPT = 16  # texts


def parse_once() -> None:
    """From now on, in this process."""
    LOADERS.update(dict.fromkeys((".yaml", ".yml"), _load))


def _load(path: Any, fs: Any = None, **options: Any) -> Mapping[str, Any]:
    """DVC's load_yaml, but for the parser."""
    loaded: Mapping[str, Any] = _load_data(path, parser=_parse, fs=fs, **options)
    return loaded


def _parse(text: str, path: Any) -> Mapping[str, Any]:
    return deepcopy(_parsed(text, path))


@lru_cache(KEPT)
def _parsed(text: str, path: Any) -> Mapping[str, Any]:
    parsed: Mapping[str, Any] = parse_yaml(text, path)
    return parsed
