"""The section `test` of params.yaml: held-out sequences, the same for every seed and variant."""

from vanishing_variance.harness.sections import Lengths, Section, Several


class Test(Section):
    """Test lengths in items, increasing; sequences a length, two or more, for standard errors over them."""

    __test__ = False  # not a test case: pytest would collect it by its name

    lengths: Lengths
    sequences: Several
