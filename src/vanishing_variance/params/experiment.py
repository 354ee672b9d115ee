"""What is trained: the top-level keys of params.yaml, and its sections `ranges`, `model` and `training`."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from vanishing_variance.params.base import Section

Count = Annotated[int, Field(strict=True, ge=1)]
Index = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Range(Section):
    """The lengths of training sequences, both ends included (B.1, B.2)."""

    shortest: Count
    longest: Count

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.shortest > self.longest:
            raise ValueError(f"shortest <= longest, not {self.shortest} > {self.longest}")
        return self


class Model(Section):
    """The network's width D, and the epsilon that normalisers add to what they divide by."""

    width: Count
    epsilon: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Training(Section):
    """The optimiser, and how many seeds one CPU process trains at once."""

    batch_size: Count
    learning_rate: Positive
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    seeds_per_process: Count


def seeds(block: int, seeds_per_block: int) -> list[int]:
    """The seeds of a block: [block k, (block + 1) k)."""
    return list(range(block * seeds_per_block, (block + 1) * seeds_per_block))
