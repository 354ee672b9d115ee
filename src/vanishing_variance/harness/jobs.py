"""Jobs for other processes that name a class of a script or notebook, which pickle alone cannot send."""

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from io import BytesIO
from types import ModuleType
from typing import Any

import cloudpickle

from vanishing_variance.harness.memory import in_one_line
from vanishing_variance.harness.parallel import Job, Report


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """With modules of a class of their own, by name: who names `sizes.classes` and torch names `torch.classes`."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, ModuleType) and type(obj) is not ModuleType and sys.modules.get(obj.__name__) is obj:
            return import_module, (obj.__name__,)
        return super().reducer_override(obj)


def job(function: Callable[..., Any], *arguments: Any) -> Job:
    """Return the call of a function with these arguments, and what it reports to, as a job for another process.

    Raises InputError where one of them cannot be sent there.
    """
    pickled = BytesIO()
    with in_one_line("sending what was given to another process"):
        _Pickler(pickled).dump((function, arguments))
    return partial(_call, pickled.getvalue())


def _call(pickled: bytes, report: Report) -> Any:
    function, arguments = cloudpickle.loads(pickled)
    return function(*arguments, report)
