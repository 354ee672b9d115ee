"""Jobs for other processes, with the code of what they are given."""

from collections.abc import Callable
from functools import partial
from typing import Any

import cloudpickle

from vanishing_variance.harness.by_value import dumps
from vanishing_variance.harness.parallel import Job, Report


def job(function: Callable[..., Any], *arguments: Any) -> Job:
    """Return the call of a function with copies of these arguments, and what it reports to, as a job of `parallel.run`.

    Each job has copies of its own, also where it runs in this process. Raises InputError where they cannot be copied.
    """
    return partial(_call, dumps((function, arguments), "sending what was given to another process"))


def _call(pickled: bytes, report: Report) -> Any:
    function, arguments = cloudpickle.loads(pickled)
    return function(*arguments, report)
