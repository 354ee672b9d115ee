"""The section `ranges`: the lengths of training sequences."""

from typing import Self

from pydantic import model_validator

from vanishing_variance.params.base import Count, Section


class Range(Section):
    """The lengths of training sequences, both ends included (B.1, B.2)."""

    shortest: Count
    longest: Count

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.shortest > self.longest:
            raise ValueError(f"shortest <= longest, not {self.shortest} > {self.longest}")
        return self
