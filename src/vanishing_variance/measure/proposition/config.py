"""The section `proposition`: what Proposition 1 is checked on, inside the first model of the first block."""

from vanishing_variance.harness.sections import Length, Lengths, Section, Several


class Proposition(Section):
    """Lengths in items, increasing; sequences a length; the exponents are fitted to the lengths from `tail` on."""

    lengths: Lengths
    sequences: Several
    tail: Length
