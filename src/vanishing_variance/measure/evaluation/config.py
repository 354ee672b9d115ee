"""The sections `diagnostics` and `temperature` of params.yaml."""

from vanishing_variance.harness.sections import Count, Section, Several


class Diagnostics(Section):
    """Sequences a length for the moments and features of O (Figures 2 and 3), and for the heatmap (Figure 4)."""

    sequences: Several
    heatmap_sequences: Count


class Fit(Section):
    """Sequences a model and test length, labelled and none of them tested, to whose wrong answers it is fitted."""

    sequences: Count
