"""Copies by value: an object with its code, which neither an edit of a file nor a change of the original reaches.

pickle alone names classes and functions, and whoever reads it imports them as they are then.
"""

import importlib
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from types import ModuleType
from typing import Any

import cloudpickle
import cloudpickle.cloudpickle as internals  # type: ignore[import-untyped]
import torch
from torch import Tensor

from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.harness.paths import is_installed

_PACKAGE = __name__.partition(".")[0]
_lock = threading.Lock()
_looked_at: dict[str, tuple[Any, bool]] = {}


def dumps(thing: Any, what: str) -> bytes:
    """Return an object as bytes, which `pickle.loads` makes a copy of, with classes of its own.

    By value is what modules of one's own define; libraries, and this package, are imported where it is read. Raises
    InputError, which begins with `what`, where that cannot be.
    """
    with in_one_line(what):
        return _dumped(_Pickler, thing)


def copied(thing: Any, what: str) -> Any:
    """Return a copy by value. Raises InputError as `dumps`."""
    dumped = dumps(thing, what)
    with in_one_line(what):
        return cloudpickle.loads(dumped)


def described(thing: Any) -> bytes:
    """Return bytes that two objects share whose numbers, attributes and code are the same."""
    return _dumped(_Describer, thing)


class ByValue:
    """An object whose pickle has the code of what it holds."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), dumps(vars(self), f"keeping a {type(self).__name__}"))


def _restored(kind: Any, held: bytes) -> Any:
    thing = kind.__new__(kind)
    thing.__dict__.update(cloudpickle.loads(held))
    return thing


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """With classes that are new wherever they are read.

    cloudpickle would find the original where that is, and set it back to what it was.
    """

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file)
        self._copy = uuid.uuid4().hex

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, ModuleType):
            return _reduced_module(obj)
        reduced = super().reducer_override(obj)
        if isinstance(obj, type) and isinstance(reduced, tuple):
            tracked = internals._DYNAMIC_CLASS_TRACKER_BY_CLASS.get(obj)
            function, arguments, *rest = reduced
            arguments = tuple(self.name(obj, tracked) if part is tracked else part for part in arguments)
            return function, arguments, *rest
        return reduced

    def name(self, kind: type, tracked: str | None) -> str:
        """Return what cloudpickle knows the copy of a class by."""
        return f"{self._copy}-{tracked}"


class _Describer(_Pickler):
    """With tensors by their numbers, since torch names the memory, too; and classes by their names."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            flat = obj.detach().cpu().contiguous().flatten()
            return bytes, (flat.view(torch.uint8).numpy().tobytes(),)
        return super().reducer_override(obj)

    def name(self, kind: type, tracked: str | None) -> str:
        return f"{kind.__module__}.{kind.__qualname__}"


def _dumped(pickler: type[_Pickler], thing: Any) -> bytes:
    stored = BytesIO()
    with _by_value():
        pickler(stored).dump(thing)
    return stored.getvalue()


@contextmanager
def _by_value() -> Iterator[None]:
    """Let cloudpickle take modules of one's own by value."""
    with _lock:
        known = cloudpickle.list_registry_pickle_by_value()
        modules = [module for module in _own_modules() if module.__name__ not in known]
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in modules:
                cloudpickle.unregister_pickle_by_value(module)


def _own_modules() -> list[ModuleType]:
    """Return modules of one's own; of thousands that are loaded each is looked at once."""
    for name, module in sys.modules.copy().items():
        if name not in _looked_at or _looked_at[name][0] is not module:
            _looked_at[name] = module, _is_own(name, module)
    return [module for module, is_own in _looked_at.values() if is_own]


def _is_own(name: str, module: Any) -> bool:
    """Return whether a module is neither Python's, nor installed, nor of this package."""
    if type(module) is not ModuleType or module.__name__ != name or name.partition(".")[0] == _PACKAGE:
        return False
    file = vars(module).get("__file__")
    return isinstance(file, str) and file.endswith(".py") and not is_installed(file)


def _reduced_module(module: ModuleType) -> tuple[Any, ...]:
    """Return a module by its name, but for one's own, which is what it holds."""
    if module.__name__ in sys.modules and not internals._is_registered_pickle_by_value(module):
        return importlib.import_module, (module.__name__,)
    held = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    return ModuleType, (module.__name__,), held, None, None, _filled


def _filled(module: ModuleType, held: dict[str, Any]) -> None:
    vars(module).update(held)
