"""Choices by name, a file each: of `tasks/`, `norms/`, `attentions/` and `networks/`.

Adding one edits no other file.
"""

import os
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from vanishing_variance.engine.task import Task, why_plain
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.sections import get_param

_PACKAGE = Path(__file__).parents[1]


def names(folder: str) -> list[str]:
    """Return the names of the choices of a folder, sorted: files with a name that a stage's arguments take."""
    files = [path for path in (_PACKAGE / folder).glob("*.py") if path.is_file()]
    return sorted(path.stem for path in files if re.fullmatch("[a-z][a-z0-9_]*", path.stem))


def why_unknown(folder: str, name: Any) -> str:
    """Return, to stand behind a list of choices, why a name beside them is none; empty where nothing has that name."""
    if not isinstance(name, str) or name in names(folder) or not os.path.lexists(_PACKAGE / folder / f"{name}.py"):
        return ""
    return f" ({folder}/{name}.py is no file with a name of a-z, 0-9 and _)"


def softmax_names() -> list[str]:
    """Return the names of the attention maps that are a softmax of rescaled logits, sorted.

    They have a function `scale`, which is looked for in their text: to load them would load torch.
    """
    folder = _PACKAGE / "attentions"
    return [
        name for name in names("attentions") if re.search(rb"\n *def scale\(", (folder / f"{name}.py").read_bytes())
    ]


def load(folder: str, name: str) -> ModuleType:
    """Return the module of a choice. Raises InputError for an unknown one, which lists the choices, or a broken one."""
    choices = names(folder)
    if name not in choices:
        why = why_unknown(folder, name)
        raise InputError(f"{folder}: {shown(name)} is unknown; choose from {', '.join(choices)}{why}")
    try:
        return import_module(f"vanishing_variance.{folder}.{name}")
    except Exception as problem:  # of any kind: of the file's own code
        raise InputError(f"{folder}/{name}.py fails: {type(problem).__name__}: {problem}") from problem


def load_task(name: str) -> type[Task]:
    """Return the class of a task. Raises InputError, which lists the choices, for an unknown one."""
    module = load("tasks", name)
    own = [thing for thing in vars(module).values() if getattr(thing, "__module__", None) == module.__name__]
    tasks = [thing for thing in own if isinstance(thing, type) and issubclass(thing, Task)]
    if len(tasks) != 1:
        raise InputError(f"{module.__file__}: a task's file has one class that is a Task, not {len(tasks)}")
    return tasks[0]


def task_of(params: Mapping[str, Any], name: str) -> Task:
    """Return a task by params.yaml. Raises InputError."""
    task: Task = get_param(params, f"tasks.{name}.data", load_task(name))
    return task


def is_plain(params: Mapping[str, Any], task: str) -> bool:
    """Return whether the plain engine trains the network of params.yaml on a task."""
    return why_plain(params["network"], task_of(params, task)) != ""
