"""The keys `seed`, `blocks` and `seeds_per_block`."""

from typing import Annotated

from pydantic import AfterValidator, Field

from vanishing_variance.harness.sections import different

Index = Annotated[int, Field(strict=True, ge=0, lt=2**31)]
SeedsPerBlock = Annotated[int, Field(strict=True, ge=1, le=10_000)]


Blocks = Annotated[list[Index], Field(min_length=1), AfterValidator(different)]


def seeds(block: int, seeds_per_block: int) -> list[int]:
    """Return the seeds of a block: [block k, (block + 1) k)."""
    return list(range(block * seeds_per_block, (block + 1) * seeds_per_block))
