"""The section `test`: the sequences that models are tested on, the same for every seed and variant."""

from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, Field

from vanishing_variance.params.base import Section, Several


def _increasing(lengths: list[int]) -> list[int]:
    if any(later <= earlier for earlier, later in pairwise(lengths)):
        raise ValueError("strictly increasing")
    return lengths


Length = Annotated[int, Field(strict=True, ge=1, le=2**24)]
Lengths = Annotated[list[Length], Field(min_length=1), AfterValidator(_increasing)]


class Test(Section):
    """Test lengths in items, increasing; sequences a length, two or more, for standard errors over them."""

    __test__ = False  # not a test case: pytest would collect it by its name

    lengths: Lengths
    sequences: Several
