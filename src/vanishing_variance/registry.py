"""Variants by name: one module a variant, found by its file's name, so that adding one edits no other file."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from vanishing_variance.errors import InputError, shown


def names(package: ModuleType) -> list[str]:
    """The variants in `package`: its modules, sorted, without `base` and private ones."""
    files = (path.stem for folder in package.__path__ for path in Path(folder).glob("*.py"))
    return sorted(name for name in files if name != "base" and not name.startswith("_"))


def load(package: ModuleType, name: str) -> ModuleType:
    """The module of variant `name`. Raises InputError, which lists the choices, when there is none."""
    choices = names(package)
    if name not in choices:
        kind = package.__name__.rpartition(".")[2]
        raise InputError(f"{kind}: {shown(name)} is unknown; choose from {', '.join(choices)}")
    return import_module(f"{package.__name__}.{name}")
