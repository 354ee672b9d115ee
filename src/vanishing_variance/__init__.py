"""Vanishing variance in transformer length generalisation (Li, Boduljak, Zhou 2025), reproduced.

`from vanishing_variance import evaluate, read_params, train` is for notebooks (`notebook.py`); the pipeline's stages
import the rooms, and so load no more than they declare to DVC.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vanishing_variance.harness.edits import note_sources

if TYPE_CHECKING:
    from vanishing_variance.engine.task import Embedded, Number, OneHot, Task
    from vanishing_variance.notebook import Trained, evaluate, inside, module, read_params, train

# Of torch for CUDA, which asks for a C compiler and Python's headers; read when torch is imported.
os.environ.setdefault("TORCH_DISABLE_NATIVE_JIT", "1")

_OF_TASKS = ["Embedded", "Number", "OneHot", "Task"]
__all__ = ["Embedded", "Number", "OneHot", "Task", "Trained", "evaluate", "inside", "module", "read_params", "train"]


def __dir__() -> list[str]:
    return [*globals(), *__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 -- only who asks for it loads it

        return version("vanishing-variance")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "engine.task" if name in _OF_TASKS else "notebook"
    if f"vanishing_variance.{module}" not in sys.modules:
        note_sources(Path(__file__).parent)
    return getattr(import_module(f"vanishing_variance.{module}"), name)  # only who asks for it loads it
