"""Times of the stages, where they ran last."""

from typing import Any

from pydantic import FiniteFloat

from vanishing_variance.core.config import Section
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.files import read_document
from vanishing_variance.core.paths import TIMES


class Time(Section):
    """The time that a stage took, as `core.stage.run` notes it in runs/times."""

    stage: str
    seconds: FiniteFloat


def read_times() -> list[dict[str, Any]]:
    """Return what `core.stage.run` wrote of each; files that cannot be read are left out: no result depends on them."""
    times = []
    for path in sorted(TIMES.glob("*.json")):
        try:
            times.append(read_document(path, Time))
        except InputError:
            continue
    return times
