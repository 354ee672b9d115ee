"""Parameters by dotted key."""

from collections.abc import Iterator, Mapping
from typing import Any


def flattened(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of sections, and of sections in them, by dotted key."""
    return {key: value for name, section in sections.items() for key, value in _inner(name, section)}


def _inner(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _inner(f"{name}.{key}", inner)
    else:
        yield name, value
