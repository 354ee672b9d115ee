"""The section `figures`: what the paper's figures show."""

from typing import Annotated

from pydantic import AfterValidator

from vanishing_variance.harness.sections import Lengths, Section
from vanishing_variance.results.runs import TASKS


def _known(task: str) -> str:
    if task not in TASKS:
        raise ValueError(f"one of {', '.join(TASKS)}")
    return task


class Figures(Section):
    """The task of Figures 2 to 4, and the lengths of Figures 2 and 4, which must be test lengths."""

    task: Annotated[str, AfterValidator(_known)]
    lengths: Lengths
