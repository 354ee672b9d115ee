"""The section `figures`: what the paper's figures show."""

from typing import Literal

from vanishing_variance.harness.sections import Lengths, Section


class Figures(Section):
    """The task of Figures 2 to 4, and the lengths of Figures 2 and 4, which must be test lengths."""

    task: Literal["argmax", "dictionary"]
    lengths: Lengths
