"""The ranges: the lengths of training sequences, and how many gradient steps a task has on them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from vanishing_variance.harness.sections import Count, Section, different, get_param


class Growth(Section):
    """Growth of the upper bound of the lengths while training (B.2): from `start`, over the first `until` of the steps.

    `shape`: `linear`, by as many items in every step; `geometric`, by the same factor in every step.
    """

    shape: Literal["linear", "geometric"]
    start: Count
    until: Annotated[float, Field(gt=0, le=1)]


class Range(Section):
    """The lengths of training sequences, both ends included (B.1, B.2); the upper bound is fixed without `growth`."""

    shortest: Count
    longest: Count
    growth: Growth | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.shortest > self.longest:
            raise ValueError(f"shortest <= longest, not {self.shortest} > {self.longest}")
        start = self.longest if self.growth is None else self.growth.start
        if not self.shortest <= start <= self.longest:
            raise ValueError(f"shortest <= growth.start <= longest, not {self.shortest} <= {start} <= {self.longest}")
        return self


def _short_first(names: list[str]) -> list[str]:
    if names[:1] != ["short"]:
        raise ValueError("[short], or [short, long]")
    return names


RangeName = Literal["short", "long"]
# `train_on`: the short range, and maybe the long one, too.
Ranges = Annotated[list[RangeName], AfterValidator(different), AfterValidator(_short_first)]


def ranges_of(params: Mapping[str, Any]) -> list[str]:
    """Return the ranges that the lines of params.yaml are trained on. Raises InputError."""
    return list(get_param(params, "train_on", Ranges))


def steps_key(task: str, range_: str) -> str:
    """Return where params.yaml has the number of gradient steps of a task on a range."""
    return f"tasks.{task}.steps.{range_}"


def training_steps(params: Mapping[str, Any], task: str, range_: str) -> int:
    """Return how many gradient steps a task has on a range. Raises InputError."""
    return int(get_param(params, steps_key(task, range_), Count))
