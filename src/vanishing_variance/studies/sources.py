"""The hashes of source files, and of what they import that is not installed."""

import ast
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.paths import is_installed
from vanishing_variance.studies.files import PACKAGE, source_hash

# What trains and tests declares these rooms, or they decide no number.
DECLARED = ("engine", "harness")


def hashes(names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256, its first 16 digits, of files, and of all files that they import, by name.

    Those of this package, and others that are not installed. A name is relative to the package: `norms/ln.py`. Rooms of
    DECLARED are left out. Raises InputError where a file is not Python.
    """
    found: dict[str, str] = {}
    left = list(names)
    while left:
        name = left.pop()
        if name in found:
            continue
        found[name] = source_hash(PACKAGE / name)
        left += _imported(name, (PACKAGE / name).read_bytes())
    return dict(sorted(found.items()))


def _imported(name: str, source: bytes) -> Iterator[str]:
    """Yield the files that a file imports, those of the packages around them among them."""
    try:
        tree = ast.parse(source)
    except SyntaxError as problem:
        raise InputError(f"{PACKAGE / name}: line {problem.lineno}: {problem.msg}") from None
    for node in ast.walk(tree):
        for module in _modules(node, name):
            yield from _files(module)


def _modules(node: ast.AST, name: str) -> Iterator[list[str]]:
    """Yield the parts of the dotted names that a statement of a file imports; the last may be no module's."""
    if isinstance(node, ast.Import):
        yield from (alias.name.split(".") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        own_package = (PACKAGE.name, *PurePosixPath(name).parent.parts)
        from_here = own_package[: len(own_package) + 1 - node.level] if node.level else ()
        module = node.module.split(".") if node.module else []
        yield from ([*from_here, *module, alias.name] for alias in node.names)


def _files(module: list[str]) -> Iterator[str]:
    """Yield the file of a module that is not installed, and those of the packages that it is in."""
    package, *parts = module
    if package != PACKAGE.name:
        for folder in _folders(package):
            if not is_installed(str(folder)):
                yield from (os.path.relpath(folder / name, PACKAGE) for name in _in(folder, module))
    elif parts and parts[0] not in DECLARED:
        yield from _in(PACKAGE, parts)


def _folders(package: str) -> Iterator[Path]:
    """Yield the folders in which a package may lie: those of the path, and where an editable install finds it."""
    yield from map(Path, sys.path)
    with suppress(ImportError, ValueError):
        spec = find_spec(package)
        if spec is not None and spec.has_location and spec.origin is not None:
            yield Path(spec.origin).parents[1 if spec.submodule_search_locations else 0]


def _in(folder: Path, parts: list[str]) -> Iterator[str]:
    """Yield the files of a module in a folder, and of the packages that it is in."""
    for end in range(1, len(parts) + 1):
        stem = "/".join(parts[:end])
        yield from (name for name in (f"{stem}.py", f"{stem}/__init__.py") if (folder / name).is_file())
