"""The section `interventions` of params.yaml."""

from vanishing_variance.harness.sections import Section, Several


class Interventions(Section):
    """Sequences of each test length, the first of those that are tested, and as many others that are calibrated on.

    `training_sequences`: of the training lengths, for each of the two.
    """

    sequences: Several
    training_sequences: Several
