"""The section `temperature`: how the adaptive temperature is fitted to our own models."""

from vanishing_variance.params.base import Count, Section
from vanishing_variance.params.seeds import Index


class Fit(Section):
    """The block whose models it is fitted to; sequences a model and test length on which their mistakes are sought."""

    block: Index
    sequences: Count
