"""The section `diagnostics`: what Figures 2 to 4 look at inside the first model of each block."""

from typing import Annotated

from pydantic import Field

from vanishing_variance.params.base import Section


class Diagnostics(Section):
    """Sequences a length for the moments and features of O (Figures 2 and 3), and for the heatmap (Figure 4)."""

    sequences: Annotated[int, Field(ge=2)]
    heatmap_sequences: Annotated[int, Field(ge=1)]
