"""How long the stages took, where they ran last."""

from typing import Any

from vanishing_variance.errors import InputError
from vanishing_variance.io.documents import Time, read_document
from vanishing_variance.paths import TIMES


def read_times() -> list[dict[str, Any]]:
    """What `command.run` noted of each. What cannot be read is left out: no result depends on it."""
    times = []
    for path in sorted(TIMES.glob("*.json")):
        try:
            times.append(read_document(path, Time))
        except InputError:
            continue
    return times
