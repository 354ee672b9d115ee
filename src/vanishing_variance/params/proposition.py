"""The section `proposition`: what Proposition 1 is checked on, inside the first model of the first block."""

from typing import Annotated

from pydantic import Field

from vanishing_variance.params.base import Section
from vanishing_variance.params.test import Length, Lengths


class Proposition(Section):
    """Lengths in items, increasing; sequences a length; the exponents are fitted to the lengths from `tail` on."""

    lengths: Lengths
    sequences: Annotated[int, Field(ge=2)]
    tail: Length
