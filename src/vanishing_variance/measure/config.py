"""The sections of params.yaml that say how trained models are measured; tests, `held_out.Test`."""

from vanishing_variance.harness.sections import Count, Length, Lengths, Section, Several


class Diagnostics(Section):
    """Sequences a length for the moments and features of O (Figures 2 and 3), and for the heatmap (Figure 4)."""

    sequences: Several
    heatmap_sequences: Count


class Interventions(Section):
    """Sequences of each test length, the first of those that are tested, and as many others that are calibrated on.

    `training_sequences`: of the training lengths, for each of the two.
    """

    sequences: Several
    training_sequences: Several


class Proposition(Section):
    """Of Proposition 1: lengths in items, increasing; sequences a length; exponents are fitted from `tail` on."""

    lengths: Lengths
    sequences: Several
    tail: Length
