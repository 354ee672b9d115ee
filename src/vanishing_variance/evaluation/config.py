"""The section `diagnostics`: what Figures 2 to 4 look at inside the first model of each block."""

from vanishing_variance.core.config import Count, Section, Several


class Diagnostics(Section):
    """Sequences a length for the moments and features of O (Figures 2 and 3), and for the heatmap (Figure 4)."""

    sequences: Several
    heatmap_sequences: Count
