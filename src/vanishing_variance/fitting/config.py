"""The section `temperature`: how the adaptive temperature is fitted to our own models."""

from vanishing_variance.core.config import Count, Section


class Fit(Section):
    """Sequences a model and test length, labelled, none of them tested, on which its mistakes are looked for."""

    sequences: Count
