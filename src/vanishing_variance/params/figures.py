"""The section `figures`: what the paper's figures show."""

from vanishing_variance.params.base import Section
from vanishing_variance.params.test import Lengths


class Figures(Section):
    """The task of Figures 2 to 4, and the lengths of Figures 2 and 4, which must be test lengths."""

    task: str
    lengths: Lengths
