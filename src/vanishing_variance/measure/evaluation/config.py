"""The section `diagnostics` of params.yaml."""

from vanishing_variance.harness.sections import Count, Section, Several


class Diagnostics(Section):
    """Sequences a length for the moments and features of O (Figures 2 and 3), and for the heatmap (Figure 4)."""

    sequences: Several
    heatmap_sequences: Count
