"""Times of the stages, where they ran last."""

from typing import Any

from pydantic import FiniteFloat

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_document
from vanishing_variance.harness.paths import TIMES
from vanishing_variance.harness.sections import Section


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
