"""Copies by value: an object with its code, which neither an edit of a file nor a change of the original reaches.

pickle alone names classes and functions, and whoever reads it imports them as they are then.
"""

import copy
import dis
import importlib
import os
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper, lru_cache
from io import BytesIO
from types import FunctionType, ModuleType
from typing import Any

import cloudpickle
import cloudpickle.cloudpickle as internals  # type: ignore[import-untyped]
import torch
from torch import Tensor

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.harness.paths import is_installed

_PACKAGE = __name__.partition(".")[0]
# Of a module that is not of its code.
_OF_IMPORT = {"__builtins__", "__cached__", "__loader__", "__path__", "__spec__"}
_lock = threading.RLock()
os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]
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


def bytes_of(tensor: Tensor) -> bytes:
    """Return the numbers of a tensor as bytes."""
    flat = tensor.detach().cpu().contiguous().flatten()
    return flat.view(torch.uint8).numpy().tobytes()


class ByValue:
    """An object whose pickle has the code of what it holds."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        memo[id(self)] = thing = type(self).__new__(type(self))
        thing.__dict__.update(copy.deepcopy(vars(self), memo))
        return thing

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
        if isinstance(obj, _lru_cache_wrapper) and _is_by_value(obj.__module__):
            return _cached, (obj.__wrapped__, obj.cache_parameters())
        if isinstance(obj, FunctionType) and _is_by_value(obj.__module__):
            _require_imported(obj)
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
            return bytes, (bytes_of(obj),)
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
    """Return modules of one's own; each loaded module is examined once."""
    for name, module in sys.modules.copy().items():
        if name not in _looked_at or _looked_at[name][0] is not module:
            _looked_at[name] = module, _is_own(name, module)
    own = {name: module for name, (module, is_own) in _looked_at.items() if is_own}
    return [own[name] for name, module in sys.modules.copy().items() if name in own and own[name] is module]


def _is_own(name: str, module: Any) -> bool:
    """Return whether a module is neither Python's, nor installed, nor of this package."""
    if type(module) is not ModuleType or module.__name__ != name or name.partition(".")[0] == _PACKAGE:
        return False
    file = vars(module).get("__file__")
    if file is None:  # a folder without __init__.py
        folders = list(vars(module).get("__path__", []))
        return bool(folders) and not any(map(is_installed, folders))
    return isinstance(file, str) and file.endswith(".py") and not is_installed(file)


def _reduced_module(module: ModuleType) -> tuple[Any, ...]:
    """Return a module by its name, but for one's own, which is what it holds."""
    if module.__name__ in sys.modules and not internals._is_registered_pickle_by_value(module):
        return importlib.import_module, (module.__name__,)
    held = {name: value for name, value in vars(module).items() if name not in _OF_IMPORT}
    return ModuleType, (module.__name__,), held, None, None, _filled


def _is_by_value(name: Any) -> bool:
    if name == "__main__":  # of a notebook, which has no file, too
        return True
    module = sys.modules.get(name)
    return module is not None and internals._is_registered_pickle_by_value(module)


def _cached(function: Any, parameters: dict[str, Any]) -> Any:
    return lru_cache(**parameters)(function)


def _require_imported(function: FunctionType) -> None:
    """Raise InputError for a function that imports a module of one's own when it is called: an edited one, maybe."""
    for instruction in dis.get_instructions(function):
        if instruction.opname == "IMPORT_NAME" and _is_by_value(instruction.argval):
            why = f"{function.__qualname__} imports {instruction.argval} when it is called"
            raise InputError(f"{function.__module__}: {why}; import it at the top of the file")


def _filled(module: ModuleType, held: dict[str, Any]) -> None:
    vars(module).update(held)
