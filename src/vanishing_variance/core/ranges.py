"""The section `ranges`: the lengths of training sequences."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from vanishing_variance.core.config import Count, Section


class Growth(Section):
    """Growth of the upper bound of the lengths while training (B.2): from `start`, over the first `until` of the steps.

    `shape`: `linear`, by as many items in every step; `geometric`, by the same factor in every step.
    """

    shape: Literal["linear", "geometric"]
    start: Count
    until: Annotated[float, Field(gt=0, le=1)]


class Range(Section):
    """The lengths of training sequences, both ends included (B.1, B.2); the upper bound is fixed without `growth`.

    `steps`: of training on this range, instead of the task's own number.
    """

    shortest: Count
    longest: Count
    growth: Growth | None = None
    steps: Count | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.shortest > self.longest:
            raise ValueError(f"shortest <= longest, not {self.shortest} > {self.longest}")
        start = self.longest if self.growth is None else self.growth.start
        if not self.shortest <= start <= self.longest:
            raise ValueError(f"shortest <= growth.start <= longest, not {self.shortest} <= {start} <= {self.longest}")
        return self
